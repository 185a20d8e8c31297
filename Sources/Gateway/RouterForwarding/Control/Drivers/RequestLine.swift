import HTTPClient

/// Requests to one router that its HTTP client has no room for: each waits here for an answer to an earlier one.
///
/// A router that begins anew, or takes another's place, is told of all its participants at once. What was never sent would look
/// like a router that does not answer, and so like its death. Health checks and leases go first: behind all that they would come
/// when it has given us up. Confined to the control loop.
final class RequestLine {
    typealias Reply = (Result<HTTPClientResponse, HTTPClientError>) -> Void

    private let client: HTTPClient
    private var waiting: [(request: HTTPClientRequest, reply: Reply)] = []

    /// - Parameter client: has no requests but those of this line.
    init(_ client: HTTPClient) { self.client = client }

    /// Calls `reply` exactly once, later; the request's deadline counts from when it goes out.
    func send(_ request: HTTPClientRequest, goesFirst: Bool, reply: @escaping Reply) {
        guard !client.hasRoom, goesFirst || waiting.count < Self.maximumWaiting else { return begin(request, reply) }
        waiting.insert((request, reply), at: goesFirst ? waiting.startIndex : waiting.endIndex)
    }

    private func begin(_ request: HTTPClientRequest, _ reply: @escaping Reply) {
        client.send(request) { [weak self] result in
            self?.beginNext()
            reply(result)
        }
    }

    private func beginNext() {
        guard client.hasRoom, !waiting.isEmpty else { return }
        let next = waiting.removeFirst()
        begin(next.request, next.reply)
    }

    /// A further one is answered `.overloaded`, unless it goes first: of those there are few.
    static let maximumWaiting = 4_096
}
