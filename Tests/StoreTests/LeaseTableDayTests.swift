import Admission
import EventLoop
import Settings
import TestSupport
import Testing
import Wire

@testable import Store

/// Five publishes a second on twenty stages: the table holds who is live and nobody else, and its story adds up.
@Suite("Lease table, a day long", .serialized)
struct LeaseTableDayTests {
    private final class Holder: LeaseHolder {
        var lastProgress: MonotonicTime { .zero }
        var hasEnded: Bool { false }
        func end(_ reason: LeaseEnd) {}
    }

    private struct Account {
        var started = 0
        var stopped = 0
        var joined = 0
        var left = 0
        var begun = 0
        var ended = 0
        var full = 0

        mutating func add(_ writes: [HistoryWrite]) {
            for write in writes {
                switch write {
                case .event(let event) where event.name == .publishStarted: started += 1
                case .event(let event) where event.name == .publishStopped: stopped += 1
                case .event(let event) where event.name == .joined: joined += 1
                case .event(let event) where event.name == .left: left += 1
                case .sessionBegan: begun += 1
                case .sessionEnded: ended += 1
                default: break
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `every start has its stop, no stage has a thirteenth, and nothing stays`() {
        var generator = SplitMix64(seed: 24)
        let start = WallTime(secondsSince1970: 1_800_000_000)
        var table = LeaseTable(quotas: QuotaSettings(), sessions: [], lastGeneration: 0, now: start)
        var account = Account()
        var live: [(lease: PublishLease, endsAt: Int)] = []
        let holder = Holder()
        func pass(_ second: Int) {
            let now = start + .seconds(second)
            for entry in live where entry.endsAt <= second { account.add(table.release(entry.lease, now: now)) }
            live.removeAll { $0.endsAt <= second }
            account.add(table.endIdleSessions(now: now))
        }
        for second in 0..<SimulatedDay.seconds {
            pass(second)
            let now = start + .seconds(second)
            // Some stages rest for a while, so that their sessions end.
            let resting = UInt64(second / 600 % 20)
            for number in 0..<5 {
                let stage = generator.next() % 20
                guard stage != resting else { continue }
                let grant = PublishGrant(
                    participantID: "p\(second)-\(number)", stageARN: "arn:aws:ivs:us-east-1:0:stage/s\(stage)",
                    stageID: "s\(stage)",
                    credentialHash: "h")
                guard case .granted(let lease) = table.claim(grant, .rtmp, holder, takeOver: false, now: now).answer else {
                    account.full += 1
                    continue
                }
                if generator.next() % 8 != 0 { account.add(table.started(lease, now: now)) }
                live.append((lease, second + 1 + Int(generator.next() % 90)))
            }
            #expect(table.held.count == live.count)
        }
        let perStage = Dictionary(grouping: live, by: \.lease.stageID).mapValues(\.count)
        #expect(perStage.values.allSatisfy { $0 <= 12 })
        for second in SimulatedDay.seconds..<(SimulatedDay.seconds + 300) { pass(second) }
        print("\(SimulatedDay.seconds) simulated seconds of leases: \(account)")
        #expect(table.held.isEmpty && table.sessions.isEmpty)
        #expect(account.full > 0 && account.started > 0)
        #expect(account.started == account.stopped && account.joined == account.left && account.begun == account.ended)
    }
}
