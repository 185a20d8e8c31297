import JSON
public import Refusals
import StageHub
public import Wire

/// A WHIP session's way from POST to first picture, each step with its time: what support would ask for.
public struct SessionStory: Sendable, Equatable {
    /// By the names that `GET /v1/sessions/{id}` shows.
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
        /// Audio has flowed for a second, and no video: that is a publish.
        case audioAlone
        case announced
        case ended
    }

    /// A step that was reached.
    public struct Entry: Sendable, Equatable {
        public var step: Step
        public var time: WallTime
        public var sincePost: Duration
        /// The peer's address, for the steps that happen on one.
        public var peer: SocketAddress?
    }

    /// In the order in which they were reached.
    public private(set) var entries: [Entry] = []
    /// Checks whose integrity was right, until DTLS began.
    public var checks = 0
    /// Checks whose integrity was wrong, while none was right.
    public var rejectedChecks = 0
    /// A sentence that says why the session ended; nil while it lives.
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

    /// Ends the story with the sentence that names why, and where on its way it stopped.
    /// - Parameter advertised: the addresses that the client was told, for a session that nothing reached.
    public mutating func end(at time: WallTime, _ reason: SessionEnd, advertised: String) {
        guard verdict == nil else { return }
        note(.ended, at: time)
        let elapsed = (time - (start ?? time)).inSeconds
        let seconds = "\(Int(elapsed)).\(Int(elapsed * 10) % 10) s"
        let stop = stop(advertised: advertised, asks: elapsed >= Self.patience)
        verdict =
            switch reason {
            case .closed: "The publisher ended the session after \(seconds)\(stop.map { ": \($0)" } ?? ".")"
            case .connectionLost: stop.map { "Within \(seconds) \($0)" } ?? "Nothing came from the publisher any more."
            case .refused(let refusal): refusal.text
            case .takenOver: "Another session of the same participant took over."
            case .shutdown: "The gateway shut down."
            }
    }

    /// Where a session that never came to pictures stopped; nil when it did.
    /// - Parameter asks: whether so much time has passed that the cause may be asked for.
    private func stop(advertised: String, asks: Bool) -> String? {
        func sentence(_ fact: String, _ question: String? = nil) -> String {
            guard asks, let question else { return fact + "." }
            return "\(fact): \(question)?"
        }
        if !contains(.firstCheck) {
            guard rejectedChecks > 0 else {
                return sentence("no connectivity check arrived on \(advertised)", "is the advertised address reachable")
            }
            return sentence(
                "connectivity checks arrived with a wrong password (\(rejectedChecks))",
                "does the client use this answer's ice-pwd")
        }
        if !contains(.claimed) {
            // Who hears no answer asks again. RootEncoder (2.8.0) asks once and then waits for a full agent that is DTLS client.
            guard checks != 1 else {
                return sentence(
                    "one connectivity check arrived, then neither another nor a DTLS ClientHello",
                    "does the client wait for those of the gateway, which sends none")
            }
            return sentence("connectivity checks arrived but no DTLS ClientHello followed", "do answers reach the client")
        }
        if !contains(.handshakeDone) { return sentence("the DTLS handshake began and was not finished") }
        if !contains(.firstRTP) { return sentence("DTLS was done but no RTP packet arrived") }
        if !contains(.firstIDR), !contains(.audioAlone) { return sentence("RTP arrived but no H.264 keyframe (IDR) did") }
        return nil
    }

    /// A client that is gone sooner had no time to get further, in seconds.
    private static let patience = 3.0
}

extension SessionStory {
    /// The story as `GET /v1/sessions/{id}` tells it.
    /// - Parameter mutes: when its tracks fell silent and went on.
    func json(mutes: [PublishStep]) -> JSONObject {
        let way = entries.map { (time: $0.time, json: line($0.step.rawValue, at: $0.time, peer: $0.peer)) }
        let silences = mutes.map { (time: $0.time, json: line($0.name, at: $0.time)) }
        let steps = (way + silences).sorted { $0.time < $1.time }
        var object: JSONObject = ["steps": .array(steps.map { $0.json })]
        if rejectedChecks > 0 { object["rejectedChecks"] = .integer(Int64(rejectedChecks)) }
        object["verdict"] = verdict.map { .string($0) }
        return object
    }

    private func line(_ step: String, at time: WallTime, peer: SocketAddress? = nil) -> JSONValue {
        var object: JSONObject = [
            "step": .string(step), "time": .string(CivilTime(time).rfc3339),
            "milliseconds": .integer((time - (start ?? time)).milliseconds),
        ]
        object["peer"] = peer.map { .string($0.description) }
        return .object(object)
    }
}
