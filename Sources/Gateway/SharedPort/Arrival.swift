import EventLoop
import HTTP
import OpenSSL
import Sockets
import Wire

/// One connection of the shared port until it is known whose it is: carries out what its `Introduction` says.
final class Arrival {
    /// The port's number for it; rises with every one.
    let number: UInt64
    let stream: TCPStream
    /// Has its arrivals until it knows whose they are.
    private unowned let port: SharedPort
    private var introduction: Introduction
    private var deadline: TimerWatch?

    init(_ stream: TCPStream, number: UInt64, at port: SharedPort, isTrustedProxy: Bool) {
        (self.stream, self.number, self.port) = (stream, number, port)
        introduction = Introduction(isTrustedProxy: isTrustedProxy)
    }

    /// Reads from the next turn on.
    func start(on loop: EventLoop, patience: Duration) {
        unsafe stream.onBytes = { [unowned self] in unsafe receive($0) }
        stream.onOpen = { [unowned self] in opened() }
        stream.onClosed = { [unowned self] in port.ended(self, $0) }
        deadline = loop.schedule(after: patience) { [unowned self] in port.end(self, .silent) }
    }

    /// Lets go of the stream: whoever gets it sets what it needs.
    func release() {
        deadline = nil
        unsafe stream.onBytes = { $0.count }
        (stream.onOpen, stream.onClosed) = ({}, { _ in })
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch unsafe introduction.receive(bytes.bytes) {
        case .wait: return 0
        case .take(let count, let source):
            guard let source else { return count }
            stream.remoteAddress = source
            return port.admit(self) ? count : bytes.count
        case .startTLS:
            stream.startTLS(port.tls)
            return 0
        case .hand(let kind):
            port.hand(self, to: kind)
            // What is here already is the new owner's, in place.
            return unsafe stream.isClosed ? bytes.count : stream.onBytes(bytes)
        case .close(let fault):
            port.end(self, fault)
            return bytes.count
        }
    }

    private func opened() {
        guard case .hand(let kind) = introduction.handshakeCompleted(applicationProtocol: stream.applicationProtocol) else {
            return
        }
        port.hand(self, to: kind)
    }
}
