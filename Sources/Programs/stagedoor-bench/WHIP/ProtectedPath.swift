import EventLoop
import SRTP
import Sockets
import Wire

/// One publisher's or viewer's media: a socket, where its datagrams go, and the keys of both directions.
final class ProtectedPath {
    /// All that comes, still protected.
    var onDatagram: (Datagram) -> Void = { _ in }
    /// Where datagrams go; nowhere until it is known.
    var remote: SocketAddress?

    private let loop: EventLoop
    private var socket: UDPSocket
    private var outbound: SRTPOutbound?
    private var inbound: SRTPInbound?

    init(loop: EventLoop, isV4: Bool) throws {
        self.loop = loop
        socket = try Self.makeSocket(on: loop, isV4: isV4)
        listen()
    }

    /// Goes on from another port, as after a NAT has forgotten the old one.
    func rebind(isV4: Bool) throws {
        socket = try Self.makeSocket(on: loop, isV4: isV4)
        listen()
    }

    func protect(by outgoing: SRTPKeys, _ incoming: SRTPKeys) {
        outbound = try? SRTPOutbound(outgoing)
        inbound = try? SRTPInbound(incoming)
    }

    func send(_ bytes: [UInt8], to address: SocketAddress? = nil) {
        if let address = address ?? remote { socket.send(bytes, to: address) }
    }

    /// Protects with `body`, and sends what it returns, if anything.
    func protecting(_ body: (inout SRTPOutbound) throws(SRTPError) -> [UInt8]?) {
        guard var protection = outbound.take() else { return }
        if let bytes = try? body(&protection) { send(bytes) }
        outbound = consume protection
    }

    /// The plain bytes of one SRTCP packet; nil when it is not genuine.
    func unprotectControl(_ packet: UnsafeMutableRawBufferPointer) -> Int? {
        guard var protection = inbound.take() else { return nil }
        let count = try? unsafe protection.unprotectControl(packet)
        inbound = consume protection
        return count
    }

    private func listen() {
        socket.onDatagrams = { [unowned self] batch in for datagram in batch { onDatagram(datagram) } }
    }

    private static func makeSocket(on loop: EventLoop, isV4: Bool) throws -> UDPSocket {
        try UDPSocket(loop: loop, address: SocketAddress(isV4 ? .anyV4 : .anyV6, port: 0))
    }
}
