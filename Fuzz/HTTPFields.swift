// fuzz: module=HTTP
import HTTP
import Wire

/// What is read of a whole request beside its framing: path, query, fields of clients, and those of proxies, which count where
/// these are trusted alone.
enum HTTPFieldsFuzz {
    private static let peer = SocketAddress(.loopback, port: 9)
    private static let trusted = [IPNetwork("127.0.0.1")!]

    static func run(_ bytes: UnsafeRawBufferPointer) {
        var parser = HTTPRequestParser(maximumBodyLength: 4096)
        guard case .request(let request)? = try? parser.receive(bytes.bytes).event else { return }
        for segment in request.pathSegments ?? [] {
            precondition(PercentEncoding.decode(PercentEncoding.encode(segment)) == segment, "a segment changed in writing")
        }
        precondition(request.queryItems.items.count <= 100, "a query has items without end")
        _ = (request.contentType, request.accepts("application/sdp"), request.cookie("session"))
        precondition(request.bearerToken?.isEmpty != true, "a token without any character")
        let believed = ForwardedSource(peer: peer, isSecure: false, headers: request.headers, trusted: trusted)
        precondition(believed.pathPrefix.utf8.count <= 256 && !believed.pathPrefix.hasPrefix("//"), "it leads to another host")
        let stranger = ForwardedSource(peer: peer, isSecure: false, headers: request.headers, trusted: [])
        precondition(stranger.source == peer && !stranger.isSecure && stranger.pathPrefix.isEmpty, "a stranger is believed")
    }
}
