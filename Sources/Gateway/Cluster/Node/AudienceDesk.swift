import Admission
import Wire

/// The stages on which somebody watches through this node. A value, without clock: every input returns what is to be done.
///
/// The node holds one lease for each of them, under a name that no participant has: it keeps the stage's session as a publisher's
/// does, and whoever sweeps it after the node's death ends all who watched through it.
struct AudienceDesk {
    enum Action: Equatable {
        case claim(stageID: String)
        case release(LeaseIdentity)
        case start(Watching, SharedSession)
        case stop(Watching)
        /// All who watch on the stage are in this session now.
        case move(stageARN: String, SharedSession)
    }

    private struct Audience {
        var arn: String
        var lease: LeaseIdentity?
        var session: SharedSession?
        var isClaiming = false
        /// Those of whom nothing was told yet, because the session is not known.
        var waiting: [Watching] = []
        /// Sessions that were told.
        var told = 0
        var claimsAgain: MonotonicTime?

        var isDeserted: Bool { waiting.isEmpty && told == 0 }
    }

    private var audiences: [String: Audience] = [:]

    /// When `timePassed` has something to do; nil for never.
    var deadline: MonotonicTime? { audiences.values.compactMap(\.claimsAgain).min() }

    mutating func started(_ watching: Watching) -> [Action] {
        let stage = watching.grant.stageID
        var audience = audiences[stage] ?? Audience(arn: watching.grant.stageARN)
        defer { audiences[stage] = audience }
        if audience.lease != nil, let session = audience.session {
            audience.told += 1
            return [.start(watching, session)]
        }
        audience.waiting.append(watching)
        guard !audience.isClaiming, audience.claimsAgain == nil else { return [] }
        audience.isClaiming = true
        return [.claim(stageID: stage)]
    }

    mutating func stopped(_ watching: Watching) -> [Action] {
        let stage = watching.grant.stageID
        guard var audience = audiences[stage] else { return [] }
        var actions: [Action] = []
        if let place = audience.waiting.firstIndex(of: watching) {
            audience.waiting.remove(at: place)
        } else if audience.told > 0 {
            audience.told -= 1
            actions.append(.stop(watching))
        }
        audiences[stage] = audience
        return actions + leaveIfDeserted(stage)
    }

    mutating func granted(_ lease: LeaseIdentity, _ session: SharedSession) -> [Action] {
        let stage = lease.key.stageID
        guard var audience = audiences[stage] else { return [.release(lease)] }
        let hasMoved = audience.told > 0 && audience.session != session
        var actions: [Action] = hasMoved ? [.move(stageARN: audience.arn, session)] : []
        actions += audience.waiting.map { .start($0, session) }
        audience.told += audience.waiting.count
        (audience.lease, audience.session, audience.isClaiming, audience.claimsAgain) = (lease, session, false, nil)
        audience.waiting = []
        audiences[stage] = audience
        return actions + leaveIfDeserted(stage)
    }

    /// No lease was to be had; media does not care.
    mutating func refused(stageID stage: String, _ now: MonotonicTime) {
        audiences[stage]?.isClaiming = false
        if audiences[stage]?.isDeserted == true { audiences[stage] = nil }
        audiences[stage]?.claimsAgain = now + Self.pause
    }

    /// The lease is another's: claimed again.
    mutating func lost(stageID stage: String, _ now: MonotonicTime) {
        guard audiences[stage]?.lease != nil else { return }
        audiences[stage]?.lease = nil
        audiences[stage]?.claimsAgain = now + Self.pause
    }

    /// The history was told that the node had died: all who watch on the stage come again.
    func revived(stageID stage: String) -> [Action] {
        guard let audience = audiences[stage], audience.told > 0, let session = audience.session else { return [] }
        return [.move(stageARN: audience.arn, session)]
    }

    mutating func timePassed(_ now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        for (stage, audience) in audiences.inOrder {
            guard let due = audience.claimsAgain, now >= due else { continue }
            audiences[stage]?.claimsAgain = nil
            audiences[stage]?.isClaiming = true
            actions.append(.claim(stageID: stage))
        }
        return actions
    }

    private mutating func leaveIfDeserted(_ stage: String) -> [Action] {
        guard let audience = audiences[stage], audience.isDeserted, !audience.isClaiming else { return [] }
        audiences[stage] = nil
        return audience.lease.map { [.release($0)] } ?? []
    }

    /// How long after a claim that failed the next one is made.
    static let pause = Duration.seconds(5)
}

extension LeaseKey {
    /// The lease of all who watch on a stage through a node: no participant's id has a `>`.
    static func audience(ofStage stageID: String, node: String) -> LeaseKey {
        LeaseKey(stageID: stageID, participantID: ">\(node)")
    }

    var isAudience: Bool { participantID.hasPrefix(">") }
}
