import StageHub
import TestSupport
import Testing
import Wire

/// A publisher whose tracks carry stamps, and the receiver's view of them: wall clock by sender report.
private struct Stage {
    let timeline = Timeline()
    let start = MonotonicTime(nanoseconds: 50_000_000_000)
    /// When each placed media time was captured, latest of each track.
    var latest: [TrackID: (captured: Duration, placed: Duration)] = [:]
    var worstSkew = Duration.zero
    var lastPlaced: [TrackID: Duration] = [:]
    var largestStep = Duration.zero
    var smallestStep = Duration.seconds(100)

    /// Something captured at `captured` arrives `delay` later under `stamp`.
    mutating func send(_ track: TrackID, captured: Duration, stamp: Duration, delay: Duration) {
        let placed = timeline.place(stamp, of: track, arrival: start + captured + delay)
        if let last = lastPlaced[track] {
            largestStep = max(largestStep, placed - last)
            smallestStep = min(smallestStep, placed - last)
        }
        lastPlaced[track] = placed
        latest[track] = (captured, placed)
        guard let video = latest[.video], let audio = latest[.audio] else { return }
        let skew = (video.placed - audio.placed) - (video.captured - audio.captured)
        worstSkew = max(worstSkew, skew < .zero ? .zero - skew : skew)
    }

    /// The skew of two sender reports made at `moment`: what a receiver adds to it by trusting them.
    func reportSkew(at moment: Duration) -> Duration {
        guard let video = timeline.timestamp(of: .video, at: start + moment),
            let audio = timeline.timestamp(of: .audio, at: start + moment)
        else { return .seconds(999) }
        return .nanoseconds(abs(video * 1_000_000 / 90 - audio * 1_000_000 / 48))
    }

    /// The moment that the sender reports claim for the latest video frame, less when it was captured.
    func reportedLatency(at moment: Duration) -> Duration {
        guard let now = timeline.timestamp(of: .video, at: start + moment), let last = latest[.video] else { return .zero }
        let age = Duration.nanoseconds((now - last.placed.timestamp(for: .video)) * 1_000_000 / 90)
        return (moment - age) - last.captured
    }
}

private func milliseconds(_ count: Int) -> Duration { .milliseconds(count) }

@Suite("Timeline of stamps (RTMP)")
struct TimelineTests {
    struct Scenario: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var seconds = 60
        /// The stamp and arrival delay of what was captured at a moment; nil when nothing is sent then.
        var stamp: @Sendable (TrackID, Duration) -> (stamp: Duration, delay: Duration)?
    }

    static let scenarios: [Scenario] = [
        Scenario(testDescription: "a whole encoder 200 ppm fast for an hour", seconds: 3600) { track, time in
            (time + .nanoseconds(time.nanoseconds / 5000), jitter(track, time))
        },
        Scenario(testDescription: "both tracks jump back 4 s") { track, time in
            (time < .seconds(20) ? time : time - .seconds(4), jitter(track, time))
        },
        Scenario(testDescription: "no video for 5 s") { track, time in
            if track == .video, .seconds(20)...(.seconds(25)) ~= time { return nil }
            return (time, jitter(track, time))
        },
        Scenario(testDescription: "both tracks jump an hour ahead, audio 300 ms later") { track, time in
            let jump = milliseconds(track == .video ? 20_000 : 20_300)
            return (time < jump ? time : time + .seconds(3600), jitter(track, time))
        },
        Scenario(testDescription: "the connection stalls for 3 s") { track, time in
            let stall = .seconds(20)...Duration.seconds(23)
            return (time, stall ~= time ? .seconds(23) - time + milliseconds(20) : jitter(track, time))
        },
        Scenario(testDescription: "video starts 4 s after audio") { track, time in
            track == .video && time < .seconds(4) ? nil : (time, jitter(track, time))
        },
        Scenario(testDescription: "stamps begin anew at zero, audio first") { track, time in
            let jump = milliseconds(track == .audio ? 20_000 : 20_200)
            return (time < jump ? time + .seconds(900) : time - .seconds(20), jitter(track, time))
        },
        Scenario(testDescription: "a first message late by a second") { track, time in
            (time, time < .seconds(1) ? .seconds(1) - time + milliseconds(20) : jitter(track, time))
        },
    ]

    /// 20 to 60 ms, a different one for each frame.
    static func jitter(_ track: TrackID, _ time: Duration) -> Duration {
        var generator = SplitMix64(seed: UInt64(time.milliseconds) &* 2 &+ (track == .video ? 1 : 0))
        return milliseconds(Int.random(in: 20...60, using: &generator))
    }

    @Test(arguments: scenarios)
    func `skew stays under 40 ms and no track steps back`(_ scenario: Scenario) {
        var stage = Stage()
        var (nextAudio, nextVideo) = (Duration.zero, Duration.zero)
        while max(nextAudio, nextVideo) < .seconds(scenario.seconds) {
            let isAudio = nextAudio <= nextVideo
            let (track, time) = isAudio ? (TrackID.audio, nextAudio) : (.video, nextVideo)
            if isAudio { nextAudio += .microseconds(23_220) } else { nextVideo += .microseconds(33_333) }
            guard let (stamp, delay) = scenario.stamp(track, time) else { continue }
            stage.send(track, captured: time, stamp: milliseconds(Int(stamp.milliseconds)), delay: delay)
        }
        #expect(stage.worstSkew < milliseconds(40))
        #expect(stage.smallestStep >= .zero)
        #expect(stage.reportSkew(at: .seconds(scenario.seconds)) < milliseconds(1))
    }

    @Test func `an audio clock of its own is placed by its stamps, not by its samples`() {
        // Whoever counts samples (the transcoder) corrects them to the stamps; these drift 200 ppm against video by themselves.
        var stage = Stage()
        for frame in 0..<(3600 * 10) {
            let time = milliseconds(100 * frame)
            stage.send(.video, captured: time, stamp: time, delay: milliseconds(20))
            stage.send(.audio, captured: time, stamp: time, delay: milliseconds(25))
        }
        #expect(stage.worstSkew < milliseconds(40))
    }

    @Test func `sender reports follow the encoder's clock`() {
        var stage = Stage()
        for frame in 0..<(3600 * 10) {
            let time = milliseconds(100 * frame)
            stage.send(.video, captured: time, stamp: time + .nanoseconds(time.nanoseconds / 5000), delay: milliseconds(30))
        }
        let latency = stage.reportedLatency(at: .seconds(3600))
        #expect(latency > .zero && latency < milliseconds(60))
    }

    @Test func `a stall does not move the sender reports`() {
        var stage = Stage()
        for frame in 0..<300 {
            stage.send(.video, captured: milliseconds(33 * frame), stamp: milliseconds(33 * frame), delay: .zero)
        }
        let before = stage.timeline.timestamp(of: .video, at: stage.start)
        for frame in 300..<400 {
            stage.send(.video, captured: milliseconds(33 * frame), stamp: milliseconds(33 * frame), delay: .seconds(3))
        }
        #expect(stage.timeline.timestamp(of: .video, at: stage.start) == before)
    }

    @Test func `a gap lands on our clock and stays a gap`() {
        var stage = Stage()
        for time in [0, 33, 66, 8066] {
            stage.send(.video, captured: milliseconds(time), stamp: milliseconds(time), delay: .zero)
        }
        #expect(stage.largestStep == .seconds(8))
    }

    @Test func `an outage after which stamps begin anew stays a gap`() {
        var stage = Stage()
        for time in [0, 33, 66, 8066] {
            stage.send(.video, captured: milliseconds(time), stamp: milliseconds(time < 8066 ? time + 900_000 : 0), delay: .zero)
        }
        #expect(stage.largestStep == .seconds(8))
        #expect(abs(stage.reportedLatency(at: milliseconds(8066)).milliseconds) < 1)
    }

    @Test func `a track that stood still before stamps began anew keeps in step with the other one`() {
        var stage = Stage()
        for frame in 0..<200 {
            let (time, hasJumped) = (milliseconds(20 * frame), frame >= 150)
            let stamp = hasJumped ? time - .seconds(3) : time + .seconds(900)
            if frame < 50 || hasJumped { stage.send(.video, captured: time, stamp: stamp, delay: .zero) }
            stage.send(.audio, captured: time, stamp: stamp, delay: .zero)
        }
        #expect(stage.worstSkew < milliseconds(40))
        #expect(stage.smallestStep >= .zero)
    }

    @Test func `a timeline takes no memory for what has not come`() throws {
        var timeline: Timeline?
        let count = try AllocationCounter.count { timeline = Timeline() }
        #expect(count <= 1, "the object itself")
        #expect(timeline?.timestamp(of: .video, at: .zero) == nil)
    }

    @Test func `stamps of any size never trap`() {
        var generator = SplitMix64(seed: 3)
        let timeline = Timeline()
        for step in 0..<10_000 {
            let stamp = Duration(secondsComponent: .random(in: .min ... .max, using: &generator), attosecondsComponent: 0)
            let arrival = MonotonicTime(nanoseconds: Int64(step) * 1_000_000)
            _ = timeline.place(stamp, of: step % 2 == 0 ? .video : .audio, arrival: arrival)
            _ = timeline.timestamp(of: .video, at: arrival)
        }
    }
}
