import Testing
import Wire

@testable import WHIPIngest

@Suite("Requests for keyframes")
struct KeyframeRequestsTests {
    /// An encoder that cannot be asked does not mind, and of one that can the way may have lost three.
    @Test func `asks for keyframes with growing pauses, and goes on with those of an encoder that seems deaf`() {
        var requests = KeyframeRequests()
        requests.want()
        let times = stride(from: 0, through: 20_000, by: 100).filter { requests.isDue(at: LossTrackerTests.time(Int64($0))) }
        #expect(times == [0, 1_000, 3_000, 7_000, 11_000, 15_000, 19_000])
        #expect(requests.isDeaf)
        requests.keyframeCame(at: LossTrackerTests.time(20_000))
        requests.want()
        let isDue = requests.isDue(at: LossTrackerTests.time(30_000))
        #expect(!requests.isDeaf && isDue)
    }

    /// Nobody answers for video that is muted: that does not make an encoder deaf.
    @Test(arguments: [false, true])
    func `asks nothing while video is muted, and for a keyframe when it goes on without one`(_ wantsKeyframe: Bool) {
        var requests = KeyframeRequests()
        requests.keyframeCame(at: LossTrackerTests.time(0))
        requests.pause()
        requests.want()
        let asked = stride(from: 0, through: 60_000, by: 100).filter { requests.isDue(at: LossTrackerTests.time(Int64($0))) }
        #expect(asked.isEmpty && !requests.isDeaf)
        if !wantsKeyframe { requests.keyframeCame(at: LossTrackerTests.time(60_100)) }
        requests.resume(wantsKeyframe: wantsKeyframe)
        let isDue = requests.isDue(at: LossTrackerTests.time(60_100))
        #expect(isDue == wantsKeyframe)
        #expect(!requests.ignoresRequests)
    }
}

@Suite("Keyframes of encoders that cannot be asked")
struct KeyframeProbeTests {
    /// Keyframes every so many milliseconds, and how long after a request one comes; nil: never.
    @Test(
        arguments: [
            (2_000, nil, false), (4_167, nil, true), (8_333, nil, true), (60_000, 300, false), (8_333, 1_300, false),
        ] as [(Int64, Int64?, Bool)])
    func `are found by asking twice at most`(_ interval: Int64, _ answer: Int64?, _ isIgnoring: Bool) {
        var requests = KeyframeRequests()
        var (sent, lastKeyframe, answerAt) = ([Int64](), Int64(0), Int64?.none)
        for time in stride(from: Int64(0), through: 60_000, by: 10) {
            if time - lastKeyframe >= interval || time == 0 || answerAt.map({ time >= $0 }) == true {
                (lastKeyframe, answerAt) = (time, nil)
                requests.keyframeCame(at: LossTrackerTests.time(time))
            }
            guard requests.isDue(at: LossTrackerTests.time(time)) else { continue }
            sent.append(time)
            if let answer, answerAt == nil { answerAt = time + answer }
        }
        #expect(requests.ignoresRequests == isIgnoring)
        #expect(sent.count <= 6, "\(sent)")
        #expect(sent.isEmpty == (interval == 2_000))
    }

    @Test func `are found when none comes for 15 s, and stay so when one comes at last`() {
        var requests = KeyframeRequests()
        requests.keyframeCame(at: LossTrackerTests.time(0))
        var found: [Int64] = []
        for time in stride(from: 0, through: 20_000, by: 100) as StrideThrough<Int64> {
            _ = requests.isDue(at: LossTrackerTests.time(time))
            if requests.ignoresRequests { found.append(time) }
        }
        #expect(found.first == 17_500)
        requests.keyframeCame(at: LossTrackerTests.time(20_100))
        #expect(requests.ignoresRequests)
    }
}
