import Admission
import EventLoop
import Refusals
import Store
import Wire

@testable import ControlPlane

/// A publish that remembers how it was ended.
final class LivePublish: LeaseHolder {
    let end = Lock<LeaseEnd?>(nil)
    var lastProgress: MonotonicTime { EventLoop.monotonicNow() }
    var hasEnded: Bool { end.withLock { $0 != nil } }
    func end(_ reason: LeaseEnd) { end.withLock { $0 = reason } }
}

extension APIBench {
    struct NotGranted: Error {}

    /// - Parameter key: the imported public key behind its token.
    func publish(_ participant: String, on stage: String, key: String? = nil) throws -> LivePublish {
        var grant = Self.grant(participant, on: stage)
        grant.publicKeyARN = key
        let publish = LivePublish()
        _ = try lease(grant, publish)
        return publish
    }

    /// Has it publish, so that the history knows of it.
    /// - Parameter ingestConfiguration: whose stream key it uses.
    @discardableResult
    func start(
        _ participant: String, on stage: String, by ingestConfiguration: String? = nil, userID: String = ""
    ) throws -> PublishLease {
        var grant = Self.grant(participant, on: stage)
        (grant.ingestConfigurationARN, grant.userID) = (ingestConfiguration, userID)
        let lease = try lease(grant, LivePublish())
        leases.publishStarted(lease)
        return lease
    }

    /// Turns it away, so that the history knows of it.
    func refuse(_ participant: String, on stage: String, _ refusal: Refusal) {
        leases.publishRefused(Self.grant(participant, on: stage), protocol: .whip, refusal)
    }

    private static func grant(_ participant: String, on stage: String) -> PublishGrant {
        PublishGrant(
            participantID: participant, stageARN: stage, stageID: ResourceName.identifier(inARN: stage),
            credentialHash: participant)
    }

    private func lease(_ grant: PublishGrant, _ holder: LivePublish) throws -> PublishLease {
        let answer = Lock<ClaimAnswer?>(nil)
        leases.claimPublish(grant, protocol: .rtmps, holder: holder, takeOver: false) { new in
            answer.withLock { $0 = new }
        }
        guard case .granted(let lease) = answer.withLock({ $0 }) else { throw NotGranted() }
        return lease
    }
}
