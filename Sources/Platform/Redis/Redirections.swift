import Wire

/// How often one request was sent on, and what to do next. Pure.
struct Redirections {
    enum Step: Equatable {
        /// The answers are the caller's.
        case deliver
        case send(to: RedisEndpoint, isAsking: Bool)
        /// To the slot's owner, whoever that is by then.
        case sendAgain(after: Duration)
        /// Two nodes send it to each other.
        case giveUp
    }

    static let maximumCount = 5
    /// The pause before the first repetition; it doubles.
    static let shortestPause = Duration.milliseconds(50)

    private(set) var count = 0

    /// - Parameter redirection: nil for answers without one.
    mutating func next(after redirection: Redirection?) -> Step {
        guard let redirection else { return .deliver }
        count += 1
        switch redirection {
        case .moved(_, let endpoint): return count > Self.maximumCount ? .giveUp : .send(to: endpoint, isAsking: false)
        case .ask(let endpoint): return count > Self.maximumCount ? .giveUp : .send(to: endpoint, isAsking: true)
        case .tryAgain, .clusterDown:
            // The server's own words say why.
            return count > Self.maximumCount ? .deliver : .sendAgain(after: Self.shortestPause * (1 << (count - 1)))
        }
    }
}
