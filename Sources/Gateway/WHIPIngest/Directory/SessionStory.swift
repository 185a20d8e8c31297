public import Wire

/// A WHIP session's way from POST to first picture, each step with its time: what support would ask for (field list 10, no. 15).
public struct SessionStory: Sendable, Equatable {
    public enum Step: String, Sendable, CaseIterable {
        /// The POST was answered 201.
        case posted
        /// A connectivity check with the right password came.
        case firstCheck
        /// DTLS began on the tuple that carries the session.
        case claimed
        case handshakeDone
        case leaseGranted
        case firstRTP
        case firstIDR
        case announced
        case ended
    }

    public struct Entry: Sendable, Equatable {
        public var step: Step
        public var time: WallTime
        public var sincePost: Duration
        /// The peer's address, for the steps that happen on one.
        public var peer: SocketAddress?
    }

    public private(set) var entries: [Entry] = []
    /// Checks whose integrity was wrong, while none was right.
    public var rejectedChecks = 0
    public private(set) var verdict: String?
    private var start: WallTime?

    public init() {}

    public func contains(_ step: Step) -> Bool { entries.contains { $0.step == step } }

    /// Notes a step the first time it happens.
    /// - Returns: how long after the POST; nil when it was noted before.
    @discardableResult
    public mutating func note(_ step: Step, at time: WallTime, peer: SocketAddress? = nil) -> Duration? {
        guard !contains(step) else { return nil }
        let start = start ?? time
        self.start = start
        entries.append(Entry(step: step, time: time, sincePost: time - start, peer: peer))
        return time - start
    }

    /// Ends the story with the sentence that names where it stopped.
    public mutating func conclude(at time: WallTime, reason: String, advertised: String, within limit: Duration) {
        guard verdict == nil else { return }
        note(.ended, at: time)
        verdict = stop(advertised: advertised, within: limit) ?? reason
    }

    /// Where a session that never came to media stopped; nil when it did.
    private func stop(advertised: String, within limit: Duration) -> String? {
        let seconds = limit.components.seconds
        if !contains(.firstCheck) {
            if rejectedChecks > 0 {
                return
                    "Connectivity checks arrived with a wrong password (\(rejectedChecks)): does the client use this answer's ice-pwd?"
            }
            return "No connectivity check arrived on \(advertised) within \(seconds) s: is the advertised address reachable?"
        }
        if !contains(.claimed) {
            return
                "Connectivity checks arrived but no DTLS ClientHello followed within \(seconds) s: do answers reach the client?"
        }
        if !contains(.handshakeDone) { return "The DTLS handshake began and was not finished." }
        if !contains(.firstRTP) { return "DTLS was done but no RTP packet arrived." }
        if !contains(.firstIDR) { return "RTP arrived but no H.264 keyframe (IDR) did." }
        return nil
    }
}
