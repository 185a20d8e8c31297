import DTLS
import EventLoop
import Glibc
import SRTP
import STUN
import Sockets
import Wire

/// One publisher's or viewer's path to a server: checks as the controlling side (RFC 8445 §7.2), DTLS
/// over what answered, keys, consent.
///
/// libnice's STUN messages are the client's too; its agent would bring GLib's main loop along for what is one timer here.
@safe final class WHIPConnection {
    /// Keys are there; called once.
    var onConnected: () -> Void = {}
    /// close_notify of the server, or a handshake that failed.
    var onClosed: () -> Void = {}
    /// SRTP and SRTCP, still protected, to be changed in place.
    var onMedia: (UnsafeMutableRawBufferPointer) -> Void = { _ in }
    let path: ProtectedPath

    private let loop: EventLoop
    private let server: WHIPServerDescription
    private let username: String
    private let localPassword: [UInt8]
    private let stun = STUNClient()
    private let agent = STUNAgent(isControlling: true)
    private let dtls: DTLSConnection
    private let isClient: Bool
    private var checkCount = 0
    private var checks: Watch?
    private var retransmission: Watch?

    /// Until the first answer (RFC 8445 §14.2 allows 5 ms; 20 ms is what agents wait).
    private static let checkInterval = Duration.milliseconds(20)
    /// RFC 7675 §5.1.
    private static let consentInterval = Duration.seconds(5)

    init(loop: EventLoop, server: WHIPServerDescription, offer: WHIPOffer, context: DTLSContext) throws {
        (self.loop, self.server) = (loop, server)
        (username, localPassword) = ("\(server.ufrag):\(offer.ufrag)", Array(offer.password.utf8))
        isClient = !server.isServerActive
        dtls = try DTLSConnection(context, role: isClient ? .client : .server, expecting: server.fingerprints)
        path = try ProtectedPath(loop: loop, isV4: server.isV4)
        path.onDatagram = { [unowned self] in take($0) }
        checks = loop.schedule(after: .zero, repeating: Self.checkInterval) { [unowned self] in check() }
    }

    /// Goes on from another port, as after a NAT has forgotten the old one: the next check comes when it is due.
    func rebind() throws { try path.rebind(isV4: server.isV4) }

    /// Says goodbye by DTLS and stops checking.
    func close() {
        checks = nil
        retransmission = nil
        dtls.close()
        sendFlights()
    }

    // MARK: - Checks

    private func check() {
        let target = path.remote ?? server.candidates[checkCount % server.candidates.count]
        checkCount += 1
        path.send(stun.check(username: username, password: server.password, useCandidate: true), to: target)
    }

    /// Sorts what shares the port by its first byte (RFC 7983 §7).
    private func take(_ datagram: Datagram) {
        guard let first = unsafe datagram.payload.first else { return }
        switch first {
        case 0...3: takeSTUN(datagram)
        case 20...63: unsafe takeDTLS(UnsafeRawBufferPointer(datagram.payload))
        case 128...191: unsafe onMedia(datagram.payload)
        default: break
        }
    }

    private func takeSTUN(_ datagram: Datagram) {
        let bytes = unsafe UnsafeRawBufferPointer(datagram.payload)
        if unsafe STUNMessage(preChecking: bytes)?.isBindingRequest == true { return unsafe answer(bytes, from: datagram.source) }
        guard unsafe stun.read([UInt8](bytes)) == .success, path.remote == nil else { return }
        path.remote = datagram.source
        checks = loop.schedule(after: Self.consentInterval, repeating: Self.consentInterval) { [unowned self] in check() }
        if isClient { proceed { connection throws(DTLSError) in try connection.start() } }
    }

    /// Servers that are full agents check us too.
    private func answer(_ request: UnsafeRawBufferPointer, from source: SocketAddress) {
        var reply = [UInt8](repeating: 0, count: STUNAgent.maximumReplyByteCount)
        let answer = try? unsafe reply.withUnsafeMutableBytes { buffer in
            try unsafe agent.answer(request, password: localPassword, from: source, into: buffer)
        }
        guard case .success(let count) = answer else { return }
        path.send(Array(reply[..<count]), to: source)
    }

    // MARK: - DTLS

    private func takeDTLS(_ datagram: UnsafeRawBufferPointer) {
        proceed { [unowned self] connection throws(DTLSError) in
            switch try unsafe connection.receive(datagram) {
            case .none: break
            case .completed(let profile, let exported): install(profile, exported)
            case .closedByPeer: onClosed()
            }
        }
    }

    private func proceed(_ step: (DTLSConnection) throws(DTLSError) -> Void) {
        do throws(DTLSError) { try step(dtls) } catch { onClosed() }
        sendFlights()
        retransmission = dtls.timeout.map { timeout in
            loop.schedule(after: timeout) { [unowned self] in
                proceed { connection throws(DTLSError) in try connection.timeoutExpired() }
            }
        }
    }

    private func sendFlights() { for datagram in dtls.takeOutgoing() { path.send(datagram) } }

    private func install(_ number: UInt16, _ exported: Secret) {
        guard let profile = SRTPProfile(rawValue: number) else { return onClosed() }
        let keys = SRTPKeys.pair(exported: exported, profile: profile)
        path.protect(by: isClient ? keys.client : keys.server, isClient ? keys.server : keys.client)
        sendFlights()
        onConnected()
    }
}
