import Foundation
import Refusals
import Settings
import TestSupport
import Testing
import Wire

@testable import MediaContract

/// What one process has to tell is told by the process after it (docs/design.md 4.6).
@Suite("Remembered refusals change hands")
struct HandedRefusalTests {
    private let publisher = ContractPublisher(credential: "hash", source: .v4(0xC000_0201), product: "OBS")
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// A context that goes on with what another one tells, through what travels between processes.
    private func successor(of context: ContractContext, rules: ContractSettings = ContractSettings()) -> ContractContext {
        let (next, now) = (ContractContext(rules: rules), start)
        context.handOver { handed in
            guard let text = try? JSONEncoder().encode(handed),
                let received = try? JSONDecoder().decode(HandedRefusal.self, from: text)
            else { return }
            next.adopt(received, at: now)
        }
        return next
    }

    @Test func `the first attempt at the new process hears the words, and spends them`() {
        let old = ContractContext()
        old.violated(publisher, Refusal(.bFrames, sentence: "2 B-frames: set none."), at: start)
        let new = successor(of: old)
        #expect(
            new.rememberedRefusal(for: publisher, at: start + .seconds(5)) == Refusal(.bFrames, sentence: "2 B-frames: set none.")
        )
        #expect(new.rememberedRefusal(for: publisher, at: start + .seconds(6)) == nil)
    }

    @Test func `what a stream of the old process does later is told too, through a third process as well`() {
        let old = ContractContext()
        let middle = successor(of: old)
        let new = successor(of: middle)
        for time in 0..<3 { old.violated(publisher, Refusal(.bFrames), at: start + .seconds(time)) }
        #expect(new.rememberedRefusal(for: publisher, at: start + .seconds(4))?.code == .repeatedViolation, "all three count")
        #expect(new.retryAfter(credential: "hash", at: start + .seconds(4)) == 8)
    }

    @Test func `another encoder, changed rules or a newer violation are not mistaken for it`() {
        let old = ContractContext()
        old.violated(publisher, Refusal(.bFrames), at: start)
        var stranger = publisher
        stranger.product = "vMix"
        #expect(successor(of: old).rememberedRefusal(for: stranger, at: start) == nil)
        var rules = ContractSettings()
        rules.videoBitrate.limit = 1_000_000
        #expect(successor(of: old, rules: rules).rememberedRefusal(for: publisher, at: start) == nil)
        let new = ContractContext()
        new.violated(publisher, Refusal(.resolutionExceeded), at: start + .seconds(1))
        old.handOver { new.adopt($0, at: self.start) }
        #expect(new.rememberedRefusal(for: publisher, at: start + .seconds(2))?.code == .resolutionExceeded)
    }

    @Test func `a process that admits again tells nobody`() {
        let old = ContractContext()
        let new = successor(of: old)
        old.takeBack()
        old.violated(publisher, Refusal(.bFrames), at: start)
        #expect(new.rememberedRefusal(for: publisher, at: start) == nil)
        #expect(old.rememberedRefusal(for: publisher, at: start)?.code == .bFrames)
    }

    @Test(
        arguments: [
            ([.min, .min, .min], 0, nil), ([1_000_000_000_000, 1_000_000_000_000], -1, 10),
            ([1_000_000_000_000, 1_000_000_000_000], .max, 30),
        ] as [([Int64], Int, Int?)])
    func `numbers that cannot be are left out`(_ violations: [Int64], _ barCount: Int, _ bar: Int?) {
        let (old, new, now) = (ContractContext(), ContractContext(), start)
        old.violated(publisher, Refusal(.bFrames), at: start)
        old.handOver { handed in
            var handed = handed
            (handed.violations, handed.barCount) = (violations, barCount)
            new.adopt(handed, at: now)
        }
        new.violated(publisher, Refusal(.bFrames), at: start + .seconds(1))
        #expect(new.retryAfter(credential: "hash", at: start + .seconds(1)) == bar)
    }
}
