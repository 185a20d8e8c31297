import Refusals
import Settings
import TestSupport
import Testing
import Wire

@testable import MediaContract

@Suite("RememberedRefusals")
struct RememberedRefusalsTests {
    private let refusal = Refusal(.bFrames, sentence: "2 B-frames: set -bf 0.")
    private let attempt = RememberedRefusals.Attempt(
        credential: "abc", source: .loopback, product: "FMLE/3.0", rules: ContractSettings())
    private let clock = FakeClock()

    @Test
    func `the first attempt gets the same words, the one after is admitted`() {
        var memory = RememberedRefusals()
        memory.violated(attempt, refusal, at: clock.now)
        #expect(memory.admit(attempt, at: clock.advance(by: .seconds(2))) == refusal)
        #expect(memory.admit(attempt, at: clock.advance(by: .seconds(2))) == nil)
    }

    @Test
    func `it lasts 30 seconds`() {
        var memory = RememberedRefusals()
        memory.violated(attempt, refusal, at: clock.now)
        #expect(memory.admit(attempt, at: clock.advance(by: .seconds(31))) == nil)
    }

    @Test
    func `another product, source, limit or credential forgets it`() {
        var rules = ContractSettings()
        rules[.bFrames] = .warn
        let others: [RememberedRefusals.Attempt] = [
            .init(credential: "abc", source: .loopback, product: "FMLE/3.1", rules: ContractSettings()),
            .init(credential: "abc", source: .v4(1), product: "FMLE/3.0", rules: ContractSettings()),
            .init(credential: "abc", source: .loopback, product: "FMLE/3.0", rules: rules),
        ]
        for other in others {
            var memory = RememberedRefusals()
            memory.violated(attempt, refusal, at: clock.now)
            let answer1 = memory.admit(other, at: clock.now)
            #expect(answer1 == nil)
            let answer2 = memory.admit(attempt, at: clock.now)
            #expect(answer2 == nil)
        }
        var memory = RememberedRefusals()
        memory.violated(attempt, refusal, at: clock.now)
        let stranger = RememberedRefusals.Attempt(
            credential: "x", source: .loopback, product: "FMLE/3.0", rules: ContractSettings())
        let answer3 = memory.admit(stranger, at: clock.now)
        #expect(answer3 == nil)
        let answer4 = memory.admit(attempt, at: clock.now)
        #expect(answer4 == refusal)
    }

    @Test
    func `the third violation in five minutes refuses for 10, then 20, then 30 seconds`() {
        var memory = RememberedRefusals()
        for _ in 0..<2 {
            memory.violated(attempt, refusal, at: clock.now)
            let answer5 = memory.admit(attempt, at: clock.now)
            #expect(answer5?.code == .bFrames)
            let answer6 = memory.admit(attempt, at: clock.now)
            #expect(answer6 == nil)
        }
        for seconds in [10, 20, 30, 30] as [Int64] {
            memory.violated(attempt, refusal, at: clock.now)
            for _ in 0..<3 {
                let answer7 = memory.admit(attempt, at: clock.now)
                #expect(answer7?.code == .repeatedViolation)
            }
            #expect(memory.retryAfter(credential: "abc", at: clock.now) == Int(seconds))
            let answer8 = memory.admit(attempt, at: clock.now)
            #expect(answer8?.sentence.contains("try again in \(seconds) s") ?? false)
            #expect(memory.admit(attempt, at: clock.advance(by: .seconds(seconds))) == nil)
        }
    }

    @Test
    func `credentials are forgotten by time alone, and make way when there are too many`() {
        var memory = RememberedRefusals()
        expectFading(maximum: RememberedRefusals.maximumCredentials, lifetime: .seconds(300)) { source, now in
            let attempt = RememberedRefusals.Attempt(
                credential: "\(source)", source: .loopback, product: "", rules: ContractSettings())
            memory.violated(attempt, refusal, at: now)
            return memory.admit(attempt, at: now) == refusal
        } count: {
            memory.credentialCount(at: $0)
        }
    }

    @Test
    func `violations further apart never bar`() {
        var memory = RememberedRefusals()
        for _ in 0..<10 {
            memory.violated(attempt, refusal, at: clock.now)
            let answer9 = memory.admit(attempt, at: clock.now)
            #expect(answer9?.code == .bFrames)
            clock.advance(by: .seconds(151))
        }
    }
}

@Suite("ContractSettings")
struct ContractRulesTests {
    @Test
    func `stage tags override limits and actions, and nonsense is named`() {
        let (rules, ignored) = ContractSettings().overridden(byStageTags: [
            "stagedoor:maxVideoBitrate": "4000000", "stagedoor:maxResolution": "640x360", "stagedoor:rule.bFrames": "warn",
            "stagedoor:profiles": "baseline main", "stagedoor:maxDuration": "-1", "stagedoor:rule.x": "off", "other": "1",
            "stagedoor:maxFrameRate": "many",
        ])
        #expect(rules.videoBitrate.limit == 4_000_000)
        #expect(rules.maximumResolution.limit == 640 * 360)
        #expect(rules[.bFrames] == .warn)
        #expect(rules.profile.limit == [.baseline, .main])
        #expect(rules.publishDuration.limit == ContractSettings().publishDuration.limit)
        #expect(ignored == ["stagedoor:maxDuration", "stagedoor:maxFrameRate", "stagedoor:rule.x"])
    }
}
