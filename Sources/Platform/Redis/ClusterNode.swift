import EventLoop

/// One primary of a cluster: its link, and requests that were sent on to it before the link stood.
final class ClusterNode {
    let endpoint: RedisEndpoint
    let link: Link
    private let maximumWaiting: Int
    private var waiting: [() -> Void] = []

    init(_ endpoint: RedisEndpoint, link: Link, maximumWaiting: Int) {
        (self.endpoint, self.link, self.maximumWaiting) = (endpoint, link, maximumWaiting)
    }

    /// Whether nobody would miss it.
    var isIdle: Bool { waiting.isEmpty && (link.connection?.unansweredCount ?? 0) == 0 }

    /// Sends commands at once, or as soon as the link stands. When the attempt at that fails they are `.away`.
    func send(_ commands: [RedisCommand], isPatient: Bool, replies: @escaping ([RedisReply]) -> Void) {
        guard link.connection == nil, isPatient, waiting.count < maximumWaiting else {
            return link.send(commands, replies: replies)
        }
        waiting.append { [unowned self] in link.send(commands, replies: replies) }
    }

    /// What waits is `.away`, and what is unanswered `.lost`.
    func close() {
        link.close()
        linkChanged()
    }

    /// The link stands, or an attempt has failed.
    func linkChanged() {
        let due = waiting
        waiting = []
        for send in due { send() }
    }
}
