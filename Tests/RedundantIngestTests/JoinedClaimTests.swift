import Admission
import EventLoop
import Refusals
import Testing
import Wire

@testable import RedundantIngest

@Suite("The lease of a participant that two encoders are")
struct JoinedClaimTests {
    /// A node's control loop answers and takes away in one turn; the worker reads its mailboxes in an order of their own.
    @Test(arguments: [LeaseEnd.takenOver, .disconnected(Refusal(.participantDisconnected))])
    func `a lease whose end is heard before its grant is given back, and nothing begins`(end: LeaseEnd) throws {
        let loop = try EventLoop()
        let leases = LateLease()
        let grant = PublishGrant(participantID: "both", stageARN: "arn:s", stageID: "s", credentialHash: "h")
        let environment = JoinedClaim.Environment(leases: leases, replies: try ReplyBox(loop: loop), loop: loop)
        let claim = JoinedClaim(grant, .rtmp, environment) { _, _ in }
        var begun = 0
        claim.onGranted = { _ in begun += 1 }
        claim.look(at: loop.now)
        #expect(!claim.lost(1, end))
        let lease = PublishLease(participantID: "both", stageID: "s", stageSessionID: "st", generation: 7)
        leases.answer(.granted(lease))
        #expect(loop.run(until: { leases.released == [lease] }, within: .seconds(60)))
        #expect(begun == 0 && claim.lease == nil && claim.isOver == (end != .takenOver))
    }

    /// It is asked for every second while a cluster's servers are away.
    @Test func `a refusal is told once, until there is another one`() throws {
        let loop = try EventLoop()
        let leases = LateLease()
        let grant = PublishGrant(participantID: "both", stageARN: "arn:s", stageID: "s", credentialHash: "h")
        let environment = JoinedClaim.Environment(leases: leases, replies: try ReplyBox(loop: loop), loop: loop)
        let claim = JoinedClaim(grant, .rtmp, environment) { _, _ in }
        var told: [RefusalCode] = []
        claim.onRefused = { told.append($0.code) }
        func asks() -> Bool {
            claim.look(at: loop.now + .seconds(5))
            return leases.isAsked
        }
        for code in [RefusalCode.platformAway, .platformAway, .stageFull, .platformAway] {
            try #require(loop.run(until: asks, within: .seconds(60)))
            leases.answer(.refused(Refusal(code)))
        }
        #expect(loop.run(until: asks, within: .seconds(60)))
        #expect(told == [.platformAway, .stageFull, .platformAway])
    }
}

/// Answers when it is told to.
private final class LateLease: PublishLeases {
    private let replies = Lock<[@Sendable (ClaimAnswer) -> Void]>([])
    private let returned = Lock<[PublishLease]>([])

    var isAsked: Bool { replies.withLock { !$0.isEmpty } }
    var released: [PublishLease] { returned.withLock { $0 } }

    func claimPublish(
        _ grant: PublishGrant, protocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        reply: @escaping @Sendable (ClaimAnswer) -> Void
    ) {
        replies.withLock { $0.append(reply) }
    }

    func answer(_ answer: ClaimAnswer) {
        for reply in replies.withLock({ $0 }) { reply(answer) }
        replies.withLock { $0 = [] }
    }

    func release(_ lease: PublishLease) { returned.withLock { $0.append(lease) } }
}
