import EventLoop
import HTTP
import Sockets
import Wire

@testable import WHIPIngest

/// A bare HTTP front for real clients: parses requests and hands them to the endpoint.
final class TestHTTPFront {
    let port: UInt16
    private let listener: TCPListener
    private var connections: [ObjectIdentifier: Connection] = [:]

    init(loop: EventLoop, endpoint: WHIPEndpoint, ip: IPAddress) throws {
        var front: TestHTTPFront?
        listener = try TCPListener(loop: loop, address: SocketAddress(ip, port: 0)) { accepted in
            front?.accept(TCPStream(loop: loop, accepted: accepted), endpoint)
        }
        port = listener.localAddress.port
        front = self
    }

    private final class Connection {
        let stream: TCPStream
        var parser = HTTPRequestParser(maximumBodyLength: 200_000)

        init(_ stream: TCPStream) { self.stream = stream }
    }

    private func accept(_ stream: TCPStream, _ endpoint: WHIPEndpoint) {
        let connection = Connection(stream)
        let key = ObjectIdentifier(connection)
        connections[key] = connection
        stream.onClosed = { [unowned self] _ in connections[key] = nil }
        stream.onBytes = { [unowned connection] bytes in
            guard let (count, event) = try? connection.parser.receive(bytes.bytes) else {
                connection.stream.closeAfterFlush()
                return bytes.count
            }
            switch event {
            case .request(var request):
                request.source = connection.stream.remoteAddress
                let respond = { (response: HTTPResponse) in
                    connection.stream.write(response.serialized(answering: request.method, date: nil, isLast: false))
                }
                if !endpoint.handle(request, respond: respond) { respond(HTTPResponse(.notFound)) }
            case .continueExpected: connection.stream.write(HTTPResponse.continueBytes)
            case nil: break
            }
            return count
        }
    }
}
