import COpenSSL
import Wire

/// One TLS connection, sans-IO: ciphertext in, plaintext out, and the other way round. The caller owns the transport.
///
/// Give what arrived to `receive`, then call `advance` until it says `.needsMore`; send what `takeOutgoing` gives after every
/// call, also after one that threw: it may hold the alert that tells the peer why.
///
///     connection.receive(ciphertext)
///     reading: while true {
///         switch try connection.advance(into: buffer) {
///         case .plaintext(let count): take(buffer[..<count])
///         case .handshakeCompleted: continue
///         case .needsMore, .closedByPeer: break reading
///         }
///     }
///     send(connection.takeOutgoing())
@safe
public final class TLSConnection {
    /// What one step has led to.
    public enum Event: Equatable, Sendable {
        /// All that was received has been used.
        case needsMore
        /// The peer is who it should be; plaintext may be written from here on.
        case handshakeCompleted
        /// Bytes of plaintext at the start of the buffer.
        case plaintext(Int)
        /// The peer has said that nothing more follows (close_notify).
        case closedByPeer
    }

    /// Whether plaintext may be written.
    public private(set) var isHandshakeCompleted = false

    private let ssl: OpaquePointer
    private let context: TLSContext
    private var incoming = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    private var outgoing: [UInt8] = []

    /// - Parameter serverName: whom a client asks for (SNI), and whose name or address the certificate must carry.
    public init(_ context: TLSContext, serverName: String? = nil) throws(OpenSSLError) {
        ERR_clear_error()
        self.context = context
        unsafe ssl = try OpenSSLError.check(SSL_new(context.handle), "SSL_new")
        let bio = unsafe try OpenSSLError.check(BIO_new(TransportBIO.method), "BIO_new")
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_set_bio(ssl, bio, bio)
        switch context.role {
        case .server: unsafe SSL_set_accept_state(ssl)
        case .client:
            unsafe SSL_set_connect_state(ssl)
            if let serverName { try expect(serverName) }
        }
    }

    deinit { unsafe SSL_free(ssl) }

    /// Lends ciphertext until `advance` has said `.needsMore`, and no longer than the memory lives.
    public func receive(_ ciphertext: UnsafeRawBufferPointer) { unsafe incoming = ciphertext }

    /// Goes one step further: the handshake, or one record. A client calls it once before anything was received.
    /// - Throws: when the connection is broken for good.
    public func advance(into plaintext: UnsafeMutableRawBufferPointer) throws(OpenSSLError) -> Event {
        ERR_clear_error()
        guard isHandshakeCompleted else { return try handshake() }
        // OpenSSL would look for another record behind every last one, and for its reason not to have one.
        guard unsafe !incoming.isEmpty || SSL_has_pending(ssl) == 1 else { return .needsMore }
        let count = unsafe SSL_read(ssl, plaintext.baseAddress, CInt(plaintext.count))
        if count > 0 { return .plaintext(Int(count)) }
        switch unsafe SSL_get_error(ssl, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .needsMore
        case SSL_ERROR_ZERO_RETURN: return .closedByPeer
        default: throw .drain("SSL_read")
        }
    }

    /// Encrypts all of `plaintext`. Only after the handshake.
    public func write(_ plaintext: UnsafeRawBufferPointer) throws(OpenSSLError) {
        precondition(isHandshakeCompleted, "the caller queues until the handshake is done")
        ERR_clear_error()
        var rest = unsafe plaintext[...]
        while unsafe !rest.isEmpty {
            let part = unsafe UnsafeRawBufferPointer(rebasing: rest)
            let count = unsafe SSL_write(ssl, part.baseAddress, CInt(clamping: part.count))
            // The transport takes everything, so a write never waits.
            guard count > 0 else { throw .drain("SSL_write") }
            unsafe rest = rest.dropFirst(Int(count))
        }
    }

    /// Says that nothing more follows (close_notify).
    public func close() {
        ERR_clear_error()
        if isHandshakeCompleted { _ = unsafe SSL_shutdown(ssl) }
        ERR_clear_error()
    }

    /// The ciphertext to be sent, which is then the caller's.
    public func takeOutgoing() -> [UInt8] {
        defer { outgoing = [] }
        return outgoing
    }

    /// Whether `takeOutgoing()` has bytes.
    public var hasOutgoing: Bool { !outgoing.isEmpty }

    /// Such as `TLSv1.3`.
    public var version: String { unsafe String(cString: SSL_get_version(ssl)) }

    /// What both sides agreed on (RFC 7301 §3.2), such as `http/1.1`; nil before the handshake, and
    /// where the client left it open.
    public var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &length)
        return length == 0 ? nil : unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    private func handshake() throws(OpenSSLError) -> Event {
        let status = unsafe SSL_do_handshake(ssl)
        if status == 1 {
            isHandshakeCompleted = true
            return .handshakeCompleted
        }
        switch unsafe SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .needsMore
        default: throw .drain("TLS handshake")
        }
    }

    private func expect(_ serverName: String) throws(OpenSSLError) {
        if IPAddress(serverName) != nil {
            let parameters = unsafe SSL_get0_param(ssl)
            return try OpenSSLError.check(
                unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, serverName), "X509_VERIFY_PARAM_set1_ip_asc")
        }
        try OpenSSLError.check(unsafe SSL_set1_host(ssl, serverName), "SSL_set1_host")
        unsafe serverName.withCString {
            _ = unsafe SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), UnsafeMutableRawPointer(mutating: $0))
        }
    }
}

// MARK: - The transport, as OpenSSL sees it

extension TLSConnection {
    fileprivate func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = unsafe min(buffer.count, incoming.count)
        guard count > 0 else { return 0 }
        unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: incoming.prefix(count)))
        unsafe incoming = UnsafeRawBufferPointer(rebasing: incoming.dropFirst(count))
        return count
    }

    fileprivate func put(_ bytes: UnsafeRawBufferPointer) { unsafe outgoing.append(contentsOf: bytes) }
}

/// A BIO that reads the bytes lent to a connection where they lie, and collects what is to be sent.
@safe
private enum TransportBIO {
    // Made once, never changed after that.
    nonisolated(unsafe) static let method: OpaquePointer? = {
        let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stagedoor transport")
        unsafe BIO_meth_set_create(method) { bio in
            unsafe BIO_set_init(bio, 1)
            return 1
        }
        unsafe BIO_meth_set_read(method) { bio, bytes, count in unsafe TransportBIO.read(bio, bytes, count) }
        unsafe BIO_meth_set_write(method) { bio, bytes, count in unsafe TransportBIO.write(bio, bytes, count) }
        unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return unsafe method
    }()

    private static func connection(_ bio: OpaquePointer?) -> TLSConnection {
        // Set right after the BIO was made, by the connection that owns it.
        unsafe Unmanaged<TLSConnection>.fromOpaque(BIO_get_data(bio)!).takeUnretainedValue()
    }

    static func read(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: CInt) -> CInt {
        unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        let taken = unsafe connection(bio).take(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
        if taken > 0 { return CInt(taken) }
        unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        return -1
    }

    static func write(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: CInt) -> CInt {
        unsafe connection(bio).put(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        return count
    }
}
