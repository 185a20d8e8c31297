public import Admission

/// One router, whatever it speaks. Confined to the control loop.
public protocol RouterDriver: AnyObject {
    /// The name in the configuration.
    var name: String { get }
    /// False for receivers that cannot be asked: they never count as dead.
    var hasHealth: Bool { get }
    func announce(_ announcement: Announcement, reply: @escaping (Result<LegPlan, AnnounceFailure>) -> Void)
    /// Sends what has changed: formats, mute, keyframe requests.
    func update(_ announcement: Announcement)
    func withdraw(_ announcement: Announcement, reason: WithdrawalReason)
    func checkHealth(reply: @escaping (Bool) -> Void)
    /// Renews the gateway's lease; answers the participants that the router has lost.
    func renewLease(_ participants: [Announcement], reply: @escaping (_ lost: [ParticipantKey]) -> Void)
}

/// Why an announce did not come to a plan.
public enum AnnounceFailure: Error, Equatable, Sendable {
    /// Nothing, or only a part of an answer, within 2 s.
    case noAnswer
    case refused(status: Int)
    /// 409: the router holds a higher generation.
    case staleGeneration
    /// The answer names what is not the router's (`RouterTrust`), or is no answer; the text says which, for the log.
    case unacceptable(String)
}

extension AnnounceFailure {
    /// For the log.
    var words: String {
        switch self {
        case .noAnswer: "no whole answer within 2 s"
        case .refused(let status): "it answered \(status)"
        case .staleGeneration: "it holds a higher generation"
        case .unacceptable(let reason): reason
        }
    }
}
