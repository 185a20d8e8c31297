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

/// What the media side tells about a publish, from any thread; participants, events and webhooks are made from it.
///
/// Every call returns at once and waits for no disk. JOINED, PUBLISH_STOPPED and LEFT follow from claims and releases: a
/// takeover is none of them, and a claim that never started nor failed leaves no trace (the network test of broadcast SDKs, where its
/// media is none).
public protocol PublishReports: Sendable {
    /// Media flows: all tracks that the protocol demands have been decodable, and the router takes them.
    func publishStarted(_ lease: PublishLease)
    /// The publish ends by our decision; `release` follows. Recorded as PUBLISH_ERROR if the refusal has an event code.
    func publishFailed(_ lease: PublishLease, _ refusal: Refusal)
    /// The publish was a network test: once it is released, no list of participants has it, unless it did more in its session.
    func publishWasTest(_ lease: PublishLease)
    /// The stream breaks a rule that only warns; `sentence` says which and what to change. At most one a minute for each rule.
    func publishWarned(_ lease: PublishLease, rule: String, sentence: String)
    /// A genuine credential was turned away before it had a lease.
    func publishRefused(_ grant: PublishGrant, protocol: IngestProtocol, _ refusal: Refusal)
}

/// Whose publish it is, in tables of all stages: a participant's id is its own on its stage alone, because whoever signs a stage's
/// tokens chooses the ids on it.
public struct ParticipantKey: Hashable, Sendable {
    public var stageID: String
    public var participantID: String

    public init(_ participantID: String, onStage stageID: String) {
        (self.participantID, self.stageID) = (participantID, stageID)
    }

    /// `stage-participant`: a stage's id holds no hyphen.
    public var name: String { "\(stageID)-\(participantID)" }
}

extension PublishGrant {
    public var participant: ParticipantKey { ParticipantKey(participantID, onStage: stageID) }
}

extension PublishLease {
    public var participant: ParticipantKey { ParticipantKey(participantID, onStage: stageID) }
}
