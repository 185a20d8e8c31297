public import Admission
import Refusals

/// A `LeaseEnd` on its way to the process whose session ends.
public struct HandedEnd: Codable, Sendable, Equatable {
    /// The refusal's number and sentence; nil for a takeover.
    var number: Int?
    var sentence = ""

    public init(_ reason: LeaseEnd) {
        guard case .disconnected(let refusal) = reason else { return }
        (number, sentence) = (refusal.code.number, refusal.sentence)
    }

    public var reason: LeaseEnd {
        guard let number else { return .takenOver }
        let code = RefusalCode(rawValue: number) ?? .participantDisconnected
        return .disconnected(Refusal(code, sentence: sentence))
    }
}
