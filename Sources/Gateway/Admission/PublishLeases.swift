public import Refusals
public import Wire

/// The right to publish as one participant, held by one session of one node (docs/design.md 7.2).
public struct PublishLease: Sendable, Codable, Hashable {
    public var participantID: String
    public var stageID: String
    /// The stage session that this publish belongs to (`st-` and 13 characters).
    public var stageSessionID: String
    /// Rises with every claim of this participant: max(last + 1, wall clock ms), below 2^53.
    public var generation: UInt64

    public init(participantID: String, stageID: String, stageSessionID: String, generation: UInt64) {
        (self.participantID, self.stageID) = (participantID, stageID)
        (self.stageSessionID, self.generation) = (stageSessionID, generation)
    }
}

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

public enum ClaimAnswer: Sendable {
    case granted(PublishLease)
    /// Another session publishes as this participant: the caller waits until it shows life or
    /// 2 s have passed without it, and claims again with `takeOver` (docs/design.md 7.3).
    case held(by: any LeaseHolder)
    case refused(Refusal)
}

/// Claims, renews and gives back the right to publish. Answers come on any thread, exactly once.
public protocol PublishLeases: Sendable {
    /// - Parameter takeOver: take the lease from its holder, which is told `.takenOver`.
    func claimPublish(
        _ grant: PublishGrant, protocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        reply: @escaping @Sendable (ClaimAnswer) -> Void)
    /// Gives the lease back; a lease of an older generation than the one held changes nothing.
    func release(_ lease: PublishLease)
}

extension PublishLeases {
    /// For whoever claims by a question whose answer may come too late to be heard: gives back the lease that it brings.
    public func giveBack(unlessDelivered isDelivered: Bool, _ answer: ClaimAnswer) {
        if !isDelivered, case .granted(let lease) = answer { release(lease) }
    }
}
