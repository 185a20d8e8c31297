import COpenSSL
public import Wire

/// One DTLS association, sans-IO: datagrams and timeouts in; datagrams, keys and the next deadline out (RFC 6347, RFC 5764).
///
/// After each call take `outgoing` and look at `timeout`. Confined to one thread.
///
///     if case .completed(let profile, let exported) = try connection.receive(datagram) { protect(profile, exported) }
///     for datagram in connection.takeOutgoing() { send(datagram) }
///     if let timeout = connection.timeout { schedule(after: timeout) { try connection.timeoutExpired() } }
@safe public final class DTLSConnection {
    /// Who begins: an offer's `setup:passive` makes us the client (RFC 8842 §5.3).
    public enum Role: Sendable { case client, server }

    /// What a call led to.
    public enum Event: Equatable, Sendable {
        /// Nothing to tell: the handshake goes on.
        case none
        /// The handshake is done and the fingerprint fits; `exported` is ordered as RFC 5764 §4.2 says.
        case completed(profile: UInt16, exported: Secret)
        /// close_notify, or a fatal alert after the handshake.
        case closedByPeer
    }

    private enum State { case handshaking, connected, closed }

    /// Datagrams to send, in order; the owner takes and clears them.
    public private(set) var outgoing: [[UInt8]] = []
    /// What is outgoing was sent before: an answer may be to that.
    public private(set) var isRepeating = false
    /// Filled while the handshake runs and OpenSSL reads; empty otherwise.
    fileprivate var incoming = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    private let context: DTLSContext
    private let expected: [CertificateFingerprint]
    /// Ours alone, but for tests: they send application data, which we never do.
    let ssl: OpaquePointer
    private(set) var handshakeMemory = HandshakeMemory()
    private var state = State.handshaking
    private var hasWrongFingerprint = false
    private let role: Role
    private var hasReceived = false

    /// - Parameter expected: the fingerprints of the peer's description; one that fits is enough (RFC 8122 §5.1).
    public init(_ context: DTLSContext, role: Role, expecting expected: [CertificateFingerprint]) throws(DTLSError) {
        guard let ssl = unsafe SSL_new(context.context) else { throw .unavailable }
        (self.context, self.role, self.expected) = (context, role, expected)
        unsafe self.ssl = ssl
        // `deinit` frees what is there: everything is set.
        guard let bio = unsafe DatagramBIO.make(for: self) else { throw .unavailable }
        unsafe SSL_set_bio(ssl, bio, bio)  // owned by `ssl` from here on
        unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_ctrl(ssl, SSL_CTRL_SET_MTU, Self.mtu, nil)
        unsafe DTLS_set_timer_cb(ssl, nextTimeout)
        switch role {
        case .client: unsafe SSL_set_connect_state(ssl)
        case .server: unsafe SSL_set_accept_state(ssl)
        }
    }

    deinit { unsafe SSL_free(ssl) }

    /// Begins the handshake as client: the ClientHello stands in `outgoing`.
    public func start() throws(DTLSError) { _ = try proceed() }

    /// Takes one datagram of the peer.
    public func receive(_ datagram: UnsafeRawBufferPointer) throws(DTLSError) -> Event {
        (hasReceived, isRepeating) = (true, false)
        unsafe incoming = datagram
        defer { unsafe incoming = UnsafeRawBufferPointer(start: nil, count: 0) }
        switch state {
        case .handshaking: return try proceed()
        case .connected: return withBuffers { readRecords() } ?? .none
        case .closed: return .none
        }
    }

    /// How long until `timeoutExpired` is due; nil when nothing waits for an answer.
    public var timeout: Duration? {
        guard state == .handshaking else { return nil }
        var left = timeval()
        guard unsafe SSL_ctrl(ssl, DTLS_CTRL_GET_TIMEOUT, 0, &left) == 1 else { return nil }
        return .seconds(left.tv_sec) + .microseconds(Int64(left.tv_usec))
    }

    /// How long to wait for an answer to what was just sent (RFC 6347 §4.2.4.1).
    ///
    /// ffmpeg as server swallows the first ClientHello, so the second follows after 50 ms. Flights it does answer must not come
    /// twice: ffmpeg 9.0.2 makes its socket blocking when a DTLS record arrives after the handshake, and crawls from then on. So
    /// what follows the ClientHello has a second to be answered, on whatever way.
    fileprivate func timeoutMicroseconds(after last: UInt32) -> UInt32 {
        let (first, longest): (UInt32, UInt32) =
            switch role {
            case .client where !hasReceived: (50_000, 1_000_000)
            case .client: (1_000_000, 2_000_000)
            case .server: (250_000, 1_000_000)
            }
        return last == 0 ? first : min(max(2 * last, 250_000), longest)
    }

    /// Sends the last flight again (RFC 6347 §4.2.4).
    public func timeoutExpired() throws(DTLSError) {
        guard state == .handshaking else { return }
        isRepeating = true
        ERR_clear_error()
        let result = handshakeMemory.during { unsafe SSL_ctrl(ssl, DTLS_CTRL_HANDLE_TIMEOUT, 0, nil) }
        if result < 0 { throw fail() }
    }

    /// Ends the association: close_notify stands in `outgoing` when there was one.
    /// - Parameter copies: how many, each a record of its own that the peer takes for new, for peers that may miss the first.
    public func close(copies: Int = 1) {
        guard state != .closed else { return }
        if state == .connected {
            ERR_clear_error()
            for _ in 0..<copies {
                unsafe SSL_set_shutdown(ssl, 0)
                _ = withBuffers { unsafe SSL_shutdown(ssl) }
            }
        }
        state = .closed
    }

    /// The datagrams to be sent, in order, which are then the caller's.
    public func takeOutgoing() -> [[UInt8]] {
        defer { outgoing.removeAll() }
        return outgoing
    }

    private func proceed() throws(DTLSError) -> Event {
        ERR_clear_error()
        let result = handshakeMemory.during { unsafe SSL_do_handshake(ssl) }
        if result == 1 { return try complete() }
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .none
        default: throw fail()
        }
    }

    private func complete() throws(DTLSError) -> Event {
        guard let profile = unsafe SSL_get_selected_srtp_profile(ssl)?.pointee.id else {
            close()
            throw .noSRTPProfile
        }
        state = .connected
        // Two keys of 16 bytes, two salts of 12 (GCM, RFC 7714 §12) or 14 bytes.
        var exported = [UInt8](repeating: 0, count: profile == 7 ? 56 : 60)
        let label = "EXTRACTOR-dtls_srtp"
        guard
            unsafe SSL_export_keying_material(ssl, &exported, exported.count, label, label.utf8.count, nil, 0, 0) == 1
        else { throw .unavailable }
        unsafe SSL_free_buffers(ssl)
        handshakeMemory.giveBack()
        return .completed(profile: UInt16(profile), exported: Secret(exported))
    }

    /// Runs `body` with OpenSSL's record buffers. Once the handshake is done they are there for such calls only: of 33 kB a
    /// connection needs none while SRTP flows.
    /// - Returns: nil when there is no memory for them.
    private func withBuffers<Result>(_ body: () -> Result) -> Result? {
        guard unsafe SSL_alloc_buffers(ssl) == 1 else { return nil }
        defer { unsafe SSL_free_buffers(ssl) }
        return body()
    }

    /// Reads over application data, which is nothing of ours, to its last byte: the rest of a record would be what the next
    /// call reads, in place of that call's datagram.
    private func readRecords() -> Event {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.scrapByteCount) { scrap in
            while true {
                ERR_clear_error()
                let count = unsafe SSL_read(ssl, scrap.baseAddress, CInt(Self.scrapByteCount))
                if count > 0 { continue }
                switch unsafe SSL_get_error(ssl, count) {
                case SSL_ERROR_ZERO_RETURN, SSL_ERROR_SSL:
                    state = .closed
                    return .closedByPeer
                default: return .none
                }
            }
        }
    }

    private func fail() -> DTLSError {
        state = .closed
        if hasWrongFingerprint { return .fingerprintMismatch }
        let error = ERR_peek_last_error()
        ERR_clear_error()
        return .handshakeFailed(reason: Int(error & 0x7F_FFFF))
    }

    func isExpected(_ certificate: [UInt8]) -> Bool {
        if expected.contains(where: { $0.matches(certificate) }) { return true }
        hasWrongFingerprint = true
        return false
    }

    fileprivate func send(_ datagram: UnsafeRawBufferPointer) {
        guard outgoing.count < Self.maximumOutgoing else { return }
        outgoing.append(unsafe [UInt8](datagram))
    }

    /// Bytes of UDP payload that fit any path (the size of all packets we make).
    private static let mtu = 1_200
    /// A flight is 5 messages; more than this in one go is our peer's game with us.
    private static let maximumOutgoing = 32
    /// Of application data at once: as long as a datagram that comes.
    private static let scrapByteCount = 2_048
}

/// Why a handshake failed. A single bad datagram is no error: it is dropped inside.
public enum DTLSError: Error, Equatable, Sendable {
    /// The peer's certificate is not the one its offer named; alert 42 was sent, no key was made.
    case fingerprintMismatch
    /// The peer speaks DTLS but agreed on no SRTP profile of ours.
    case noSRTPProfile
    /// No common cipher or version, a broken message, an alert from the peer, or too many timeouts. OpenSSL's reason number.
    case handshakeFailed(reason: Int)
    /// OpenSSL could not make a key, certificate or context.
    case unavailable
}

/// OpenSSL asks for the next retransmission time; the last one is given, 0 for a new flight.
private func nextTimeout(_ ssl: OpaquePointer?, _ last: UInt32) -> UInt32 {
    guard let owner = unsafe SSL_get_ex_data(ssl, 0) else { return 1_000_000 }
    return unsafe Unmanaged<DTLSConnection>.fromOpaque(owner).takeUnretainedValue().timeoutMicroseconds(after: last)
}

/// An OpenSSL BIO whose writes are datagrams: memory BIOs glue records together and lose the boundaries.
private enum DatagramBIO {
    /// Made once, never freed, read only afterwards.
    nonisolated(unsafe) private static let method: OpaquePointer? = unsafe makeMethod()

    /// A BIO that reads `connection.incoming` and writes `connection.outgoing`; freed with the connection's SSL.
    static func make(for connection: DTLSConnection) -> OpaquePointer? {
        guard let method = unsafe method, let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(connection).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    private static func makeMethod() -> OpaquePointer? {
        guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams") else { return nil }
        unsafe BIO_meth_set_write(method, writeDatagram)
        unsafe BIO_meth_set_read(method, readDatagram)
        unsafe BIO_meth_set_ctrl(method, control)
        return unsafe method
    }
}

private func owner(of bio: OpaquePointer?) -> DTLSConnection? {
    guard let data = unsafe BIO_get_data(bio) else { return nil }
    return unsafe Unmanaged<DTLSConnection>.fromOpaque(data).takeUnretainedValue()
}

private func writeDatagram(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: CInt) -> CInt {
    guard let connection = unsafe owner(of: bio), count > 0 else { return -1 }
    unsafe connection.send(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    return count
}

private func readDatagram(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ capacity: CInt) -> CInt {
    unsafe BIO_clear_flags(bio, retryFlags)
    guard let connection = unsafe owner(of: bio), let start = unsafe connection.incoming.baseAddress,
        unsafe !connection.incoming.isEmpty, let bytes = unsafe bytes, capacity > 0
    else {
        unsafe BIO_set_flags(bio, readRetryFlags)
        return -1
    }
    let count = min(unsafe connection.incoming.count, Int(capacity))
    unsafe UnsafeMutableRawPointer(bytes).copyMemory(from: start, byteCount: count)
    unsafe connection.incoming = UnsafeRawBufferPointer(start: nil, count: 0)
    return CInt(count)
}

private func control(_: OpaquePointer?, _ command: CInt, _: Int, _: UnsafeMutableRawPointer?) -> Int {
    switch command {
    case BIO_CTRL_FLUSH: 1
    case BIO_CTRL_DGRAM_QUERY_MTU, BIO_CTRL_DGRAM_GET_FALLBACK_MTU: 1_200
    case BIO_CTRL_DGRAM_GET_MTU_OVERHEAD: 28
    default: 0
    }
}

/// BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY, and both with BIO_FLAGS_WRITE and BIO_FLAGS_IO_SPECIAL: the macros do not import.
private let readRetryFlags: CInt = 0x01 | 0x08
private let retryFlags: CInt = 0x0F
