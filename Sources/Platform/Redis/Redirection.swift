import Wire

/// A node's refusal to carry out commands that another node would, or the same one later. Nothing was carried out.
enum Redirection: Equatable {
    /// The slot lives there now.
    case moved(KeySlot, RedisEndpoint)
    /// The slot is on its way, and this key has arrived there: for this once.
    case ask(RedisEndpoint)
    /// The slot is on its way, and of the keys some have arrived and some have not.
    case tryAgain
    /// The cluster has too few primaries, or nobody has the slot.
    case clusterDown

    /// - Parameter host: of the node that refuses, which names its own host by an empty one.
    init?(_ refusal: RedisRefusal, from host: String) {
        switch refusal.code {
        case "TRYAGAIN": self = .tryAgain
        case "CLUSTERDOWN": self = .clusterDown
        case "MOVED", "ASK":
            let words = refusal.message.split(separator: " ")
            guard words.count == 3, let slot = Int(words[1]).flatMap({ KeySlot($0) }),
                let colon = words[2].lastIndex(of: ":"), let port = UInt16(words[2][words[2].index(after: colon)...])
            else { return nil }
            let there = String(words[2][..<colon])
            let endpoint = RedisEndpoint(host: there.isEmpty ? host : there, port: port)
            self = refusal.code == "MOVED" ? .moved(slot, endpoint) : .ask(endpoint)
        default: return nil
        }
    }

    /// The first among answers to commands that are carried out together or not at all.
    init?(in replies: [RedisReply], from host: String) {
        for case .failure(.refused(let refusal)) in replies {
            guard let redirection = Redirection(refusal, from: host) else { continue }
            self = redirection
            return
        }
        return nil
    }
}

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
