public import Refusals
public import Wire

/// The live session that holds a lease, as seen from any thread.
public protocol LeaseHolder: AnyObject, Sendable {
    /// When the holder last completed an audio frame or access unit with advancing media time.
    var lastProgress: MonotonicTime { get }
    /// The publish is over and its lease given back: whoever waits for it need wait no longer.
    var hasEnded: Bool { get }
    /// Ends the holder's publish; returns at once, the holder's worker carries it out.
    func end(_ reason: LeaseEnd)
}

/// Why a lease was taken away.
public enum LeaseEnd: Sendable, Equatable {
    case takenOver
    /// DisconnectParticipant, DeleteStage, a revoked token, a forced delete.
    case disconnected(Refusal)

    /// How the session that held the lease ends.
    public var sessionEnd: SessionEnd {
        switch self {
        case .takenOver: .takenOver
        case .disconnected(let refusal): .refused(refusal)
        }
    }

    /// As another process or node says it.
    /// - Parameter number: the refusal's; one that only a newer version knows counts as a disconnect.
    public static func disconnected(number: Int, sentence: String) -> LeaseEnd {
        let code = RefusalCode(rawValue: number) ?? .participantDisconnected
        return .disconnected(Refusal(code, sentence: sentence))
    }
}

/// The refusal's number and sentence; without a number somebody took over.
extension LeaseEnd: Codable {
    private enum Field: String, CodingKey {
        case number, sentence
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let sentence = try fields.decode(String.self, forKey: .sentence)
        let number = try fields.decodeIfPresent(Int.self, forKey: .number)
        self = number.map { .disconnected(number: $0, sentence: sentence) } ?? .takenOver
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        switch self {
        case .takenOver: try fields.encode("", forKey: .sentence)
        case .disconnected(let refusal):
            try fields.encode(refusal.code.number, forKey: .number)
            try fields.encode(refusal.sentence, forKey: .sentence)
        }
    }
}
