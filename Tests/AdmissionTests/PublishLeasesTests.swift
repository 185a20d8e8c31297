import Admission
import EventLoop
import Refusals
import Testing
import Wire

@Suite("Claims from a loop")
struct PublishLeasesTests {
    private static let lease = PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1)

    private let loop: EventLoop
    private let leases = KeptClaim()

    init() throws { loop = try EventLoop() }

    private func claim(through replies: ReplyBox, then: @escaping (ClaimAnswer) -> Void) {
        let grant = PublishGrant(participantID: "p", stageARN: "arn:s", stageID: "s", credentialHash: "h")
        leases.claimPublish(grant, protocol: .rtmp, holder: LocalHolder { _ in }, takeOver: false, through: replies, then: then)
    }

    @Test func `a claim that nobody answers is refused`() throws {
        let replies = try ReplyBox(loop: loop)
        var codes: [RefusalCode] = []
        claim(through: replies) { answer in
            if case .refused(let refusal) = answer { codes.append(refusal.code) }
        }
        leases.letGo()
        #expect(loop.run(until: { !codes.isEmpty }, within: .seconds(60)))
        #expect(codes == [.authorityUnavailable])
    }

    @Test func `what is granted to somebody who has gone is given back`() throws {
        var replies: ReplyBox? = try ReplyBox(loop: loop)
        try claim(through: #require(replies)) { _ in Issue.record("nobody is there to hear of it") }
        replies = nil
        leases.answer(.granted(Self.lease))
        #expect(leases.released == [Self.lease])
    }
}

/// Keeps one claim until it is told what becomes of it.
private final class KeptClaim: PublishLeases {
    private let reply = Lock<(@Sendable (ClaimAnswer) -> Void)?>(nil)
    private let returned = Lock<[PublishLease]>([])

    var released: [PublishLease] { returned.withLock { $0 } }

    func claimPublish(
        _ grant: PublishGrant, protocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        reply: @escaping @Sendable (ClaimAnswer) -> Void
    ) {
        self.reply.withLock { $0 = reply }
    }

    func release(_ lease: PublishLease) { returned.withLock { $0.append(lease) } }

    func answer(_ answer: ClaimAnswer) { reply.withLock { $0 }?(answer) }

    func letGo() { reply.withLock { $0 = nil } }
}
