import Admission
import EventLoop
import Refusals
import Wire

/// Grants tokens of the form `participant` or `participant@stage`; `bad` is refused.
struct StubAuthorizer: Authorizer {
    func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
        guard case .token(let secret) = request.credential, secret.revealText() != "bad" else {
            return reply(.failure(Refusal(.unknownStreamKey)))
        }
        let parts = secret.revealText().split(separator: "@")
        let stage = parts.count > 1 ? String(parts[1]) : "stage"
        reply(
            .success(
                PublishGrant(
                    participantID: String(parts[0]), stageARN: "arn:aws:ivs:us-east-1:000000000000:stage/\(stage)",
                    stageID: stage,
                    credentialHash: "hash")))
    }
}

/// Leases in memory, with the rules of the contract: one holder per participant, takeovers tell the old one.
final class StubLeases: PublishLeases {
    struct Content {
        var holders: [String: (holder: any LeaseHolder, lease: PublishLease)] = [:]
        var generation: UInt64 = 0
        var released = 0
    }

    let content = Lock(Content())
    /// Called with who takes over, before that is answered.
    let beforeTakeover = Lock<@Sendable (any LeaseHolder) -> Void>({ _ in })
    /// The answer to who would take over, where there is one.
    let takeoverRefusal = Lock<Refusal?>(nil)

    func claimPublish(
        _ grant: PublishGrant, protocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        reply: @escaping @Sendable (ClaimAnswer) -> Void
    ) {
        if takeOver, let refusal = takeoverRefusal.withLock({ $0 }) { return reply(.refused(refusal)) }
        let (answer, old) = content.withLock { content -> (ClaimAnswer, (any LeaseHolder)?) in
            let old = content.holders[grant.participantID]?.holder
            if let old, !takeOver { return (.held(by: old), nil) }
            content.generation += 1
            let lease = PublishLease(
                participantID: grant.participantID, stageID: grant.stageID, stageSessionID: "st-test",
                generation: content.generation)
            content.holders[grant.participantID] = (holder, lease)
            return (.granted(lease), old)
        }
        old?.end(.takenOver)
        let told = beforeTakeover.withLock { $0 }
        if takeOver { told(holder) }
        reply(answer)
    }

    func release(_ lease: PublishLease) {
        content.withLock { content in
            guard content.holders[lease.participantID]?.lease.generation == lease.generation else { return }
            content.holders[lease.participantID] = nil
            content.released += 1
        }
    }

    var liveCount: Int { content.withLock { $0.holders.count } }
}

/// Keeps why publishes of good tokens were turned away.
final class StubReports: PublishReports {
    let refusals = Lock<[RefusalCode]>([])

    func publishStarted(_ lease: PublishLease) {}
    func publishFailed(_ lease: PublishLease, _ refusal: Refusal) {}
    func publishWasTest(_ lease: PublishLease) {}
    func publishWarned(_ lease: PublishLease, rule: String, sentence: String) {}
    func publishRefused(_ grant: PublishGrant, protocol: IngestProtocol, _ refusal: Refusal) {
        refusals.withLock { $0.append(refusal.code) }
    }
}
