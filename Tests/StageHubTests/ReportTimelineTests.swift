import StageHub
import TestSupport
import Testing
import Wire

@Suite("Timeline of sender reports (WHIP)")
struct ReportTimelineTests {
    let timeline = Timeline()
    let start = MonotonicTime(nanoseconds: 9_000_000_000)

    /// Two tracks with unrelated RTP bases; video is encoded 80 ms late. Reports begin at `firstReport`, if ever.
    /// - Parameters:
    ///   - ofAudio: seconds; nil: with the pictures'.
    ///   - lateReport: the second in which the pictures' report is written 345 ms late.
    func run(seconds: Int, firstReport: Int?, reportedAgain: Int = 2, ofAudio: Int? = nil, lateReport: Int? = nil) {
        for step in 0..<(seconds * 50) {
            let time = Int64(step) * 20  // ms
            let (audio, video) = (time * 48 + 123_456, time * 90 + 4_000_000_000)
            let now = start + .milliseconds(time)
            timeline.observe(audio, of: .audio, arrival: now + .milliseconds(10 + step % 7))
            timeline.observe(video, of: .video, arrival: now + .milliseconds(90 + step % 5))
            guard let firstReport, time >= firstReport * 1000, step % (50 * reportedAgain) == 0 else { continue }
            func ntp(late: Int64 = 0) -> UInt64 {
                WallTime(nanosecondsSince1970: 1_700_000_000_000_000_000 + (time + late) * 1_000_000).ntp
            }
            if time >= (ofAudio ?? firstReport) * 1000 { timeline.publisherReported(ntp: ntp(), timestamp: audio, of: .audio) }
            let late: Int64 = lateReport.map { Int64($0) * 1000 } == time ? 345 : 0
            timeline.publisherReported(ntp: ntp(late: late), timestamp: video, of: .video)
        }
    }

    /// What the two reports made at `seconds` say of the same moment, less the truth.
    func skew(at seconds: Int64) throws -> Duration {
        let now = start + .seconds(seconds)
        let audio = try #require(timeline.timestamp(of: .audio, at: now)) - 123_456
        let video = try #require(timeline.timestamp(of: .video, at: now)) - 4_000_000_000
        return .nanoseconds(video * 1_000_000 / 90 - audio * 1_000_000 / 48)
    }

    @Test func `without reports, arrival stands in`() throws {
        run(seconds: 20, firstReport: nil)
        #expect(try abs(skew(at: 20).milliseconds) == 80)
    }

    @Test func `reports put the tracks together`() throws {
        run(seconds: 60, firstReport: 2)
        #expect(try abs(skew(at: 60).nanoseconds) < 1_000_000)
    }

    /// Those of the two tracks seldom lie at the same one.
    @Test(arguments: [250, 500, 999] as [Int64]) func `a report's fraction of a second counts`(_ fraction: Int64) throws {
        for time in stride(from: 0, to: 40_000, by: 20) as StrideTo<Int64> {
            let now = start + .milliseconds(time)
            for (track, base, delay) in [(TrackID.audio, 123_456, 10), (.video, 4_000_000_000, 90)] as [(TrackID, Int64, Int64)] {
                let timestamp = time * track.clockRate / 1000 + base
                timeline.observe(timestamp, of: track, arrival: now + .milliseconds(delay))
                guard time % 1000 == (track == .audio ? 0 : 500) else { continue }
                let wall = WallTime(nanosecondsSince1970: 1_700_000_000_000_000_000 + (time + fraction) * 1_000_000)
                timeline.publisherReported(ntp: wall.ntp, timestamp: timestamp, of: track)
            }
        }
        #expect(try abs(skew(at: 40).milliseconds) <= 10)
    }

    /// As Chromium sends them: of pictures after a second, of sound after five.
    @Test func `reports put the tracks together as soon where those of the pictures come first`() throws {
        run(seconds: 20, firstReport: 1, reportedAgain: 1, ofAudio: 5)
        #expect(try abs(skew(at: 20).milliseconds) <= 10)
    }

    /// A browser reports on a layer that it pauses, too.
    @Test func `a layer of which nothing comes has no other track move faster`() throws {
        run(seconds: 30, firstReport: 1)
        let ntp = WallTime(secondsSince1970: 1_700_000_030).ntp
        timeline.publisherReported(ntp: ntp, timestamp: 0, of: TrackID(.video, layer: 1))
        for time in stride(from: 30_000, to: 32_000, by: 20) as StrideTo<Int64> {
            let now = start + .milliseconds(time)
            timeline.observe(time * 48 + 123_456, of: .audio, arrival: now + .milliseconds(time < 31_000 ? 10 : 5))
            timeline.observe(time * 90 + 4_000_000_000, of: .video, arrival: now + .milliseconds(90))
        }
        // The way became 5 ms shorter a second ago.
        let shown = try #require(timeline.timestamp(of: .audio, at: start + .seconds(32))) - 123_456
        #expect(abs(shown / 48 - 31_990) <= 1)
    }

    /// A busy machine's, of an encoder that writes down when it has sent a picture (aiortc).
    @Test(arguments: [12, 30, 60, 80]) func `a report that was written late parts no tracks`(seconds: Int) throws {
        run(seconds: seconds, firstReport: 3, lateReport: 6)
        #expect(try abs(skew(at: Int64(seconds)).milliseconds) <= (seconds < 30 ? 55 : 10))
    }

    @Test(arguments: [(0, 0), (3_000, 0), (1_800_000_000, -1_800_000_000), (-90_000, 90_000)] as [(Int64, Int64)])
    func `clocks of two layers are told apart by their beginnings, and small delays are none`(_ base: Int64, _ shift: Int64)
        throws
    {
        let layer = TrackID(.video, layer: 1)
        #expect(timeline.shift(from: .video, to: layer) == nil)
        for step in 0..<90 as Range<Int64> {
            timeline.observe(step * 3_000, of: .video, arrival: start + .nanoseconds(step * 33_333_333))
            timeline.observe(step * 3_000 + base, of: layer, arrival: start + .nanoseconds(step * 33_333_333))
        }
        let found = try #require(timeline.shift(from: .video, to: layer))
        #expect(abs(found - shift) <= 1, "\(found)")
    }

    @Test func `the change-over is slewed`() throws {
        run(seconds: 20, firstReport: nil)
        let before = try skew(at: 20)
        let ntp = WallTime(secondsSince1970: 1_700_000_000).ntp
        timeline.publisherReported(ntp: ntp, timestamp: 20_000 * 48 + 123_456, of: .audio)
        timeline.publisherReported(ntp: ntp, timestamp: 20_000 * 90 + 4_000_000_000, of: .video)
        timeline.observe(20_000 * 48 + 123_456, of: .audio, arrival: start + .milliseconds(20_010))
        timeline.observe(20_020 * 90 + 4_000_000_000, of: .video, arrival: start + .milliseconds(20_110))
        let moved = try skew(at: 20) - before
        #expect(abs(moved.milliseconds) < 2)
    }

    /// As where a browser fills its way to learn how much goes through. By the times of the reports: how late each is written.
    @Test(arguments: [[3_000: 0], [1_000: 0, 3_000: 30, 5_000: 0]] as [[Int64: Int64]])
    func `a report while packets queue moves nothing at once`(_ reports: [Int64: Int64]) throws {
        let end = (reports.keys.max() ?? 0) + 1_000
        for time in stride(from: 0, to: end, by: 20) as StrideTo<Int64> {
            let arrival = start + .milliseconds(time + (time < end - 2_000 ? 10 : 710))
            for track in [TrackID.audio, .video] {
                let timestamp = time * track.clockRate / 1000
                timeline.observe(timestamp, of: track, arrival: arrival)
                guard let late = reports[time] else { continue }
                let ntp = WallTime(nanosecondsSince1970: 1_700_000_000_000_000_000 + (time + late) * 1_000_000).ntp
                timeline.publisherReported(ntp: ntp, timestamp: timestamp, of: track)
            }
        }
        for track in [TrackID.audio, .video] { #expect(try abs(error(of: track, at: end / 1000, truth: end)) < 100) }
    }

    @Test func `a publisher whose wall clock jumps moves nothing at once`() throws {
        run(seconds: 60, firstReport: 1)
        timeline.publisherReported(ntp: 1 << 32, timestamp: 60_000 * 48 + 123_456, of: .audio)
        timeline.observe(60_000 * 48 + 123_456, of: .audio, arrival: start + .milliseconds(60_010))
        #expect(try abs(skew(at: 60).milliseconds) < 2)
    }

    /// As `run`, with what the tracks' clocks show, in milliseconds, by the time that has passed; nil while nothing is sent.
    func run(seconds: Int64, reports: Bool = true, _ clocks: (Int64) -> (audio: Int64?, video: Int64?)) {
        for time in stride(from: 0, to: seconds * 1000, by: 20) {
            let (now, shown) = (start + .milliseconds(time), clocks(time))
            let ntp = WallTime(nanosecondsSince1970: 1_700_000_000_000_000_000 + time * 1_000_000).ntp
            for (track, clock, delay) in [(TrackID.audio, shown.audio, 10), (TrackID.video, shown.video, 90)] {
                guard let clock else { continue }
                let timestamp = clock * track.clockRate / 1000
                timeline.observe(timestamp, of: track, arrival: now + .milliseconds(Int64(delay) + time % 7))
                if reports, time % 2000 == 0 { timeline.publisherReported(ntp: ntp, timestamp: timestamp, of: track) }
            }
        }
    }

    /// What the clock of `track` shows at `seconds`, by the timeline, less the truth; in milliseconds.
    func error(of track: TrackID, at seconds: Int64, truth: Int64) throws -> Int64 {
        try #require(timeline.timestamp(of: track, at: start + .seconds(seconds))) * 1000 / track.clockRate - truth
    }

    @Test(arguments: [5, 70, 600] as [Int64])
    func `sound whose clock stood still while its microphone was away goes with the pictures again`(_ pause: Int64) throws {
        let end = 20 + pause
        run(seconds: end + 20) { time in
            (time < 20_000 ? time : time < end * 1000 ? nil : time - pause * 1000, time)
        }
        #expect(try abs(error(of: .audio, at: end + 20, truth: 20_000 + 20_000)) < 100)
        #expect(try abs(error(of: .video, at: end + 20, truth: (end + 20) * 1000)) < 100)
    }

    @Test(arguments: [5, 71] as [Int64])
    func `sound whose clock stood still goes with the pictures before its next report`(_ pause: Int64) throws {
        let end = 20 + pause
        // Reports come at even seconds.
        run(seconds: end + 2) { time in
            (time < 20_000 ? time : time < end * 1000 ? nil : time - pause * 1000, time)
        }
        #expect(try abs(error(of: .audio, at: end + 2, truth: 20_000 + 2_000)) < 100)
    }

    @Test func `sound that a busy encoder held back stays with the pictures`() throws {
        run(seconds: 20) { time in (time, time) }
        // Two seconds of it come in half a second.
        let packets = stride(from: 20_000, to: 26_000, by: 20).flatMap { (time: Int64) in
            [(TrackID.audio, time, max(time + 10, 22_000 + (time - 20_000) / 4)), (.video, time, time + 90)]
        }
        for (track, time, arrival) in packets.sorted(by: { $0.2 < $1.2 }) {
            timeline.observe(time * track.clockRate / 1000, of: track, arrival: start + .milliseconds(arrival))
            #expect(try abs(error(of: .audio, at: 26, truth: 26_000)) < 100)
        }
    }

    @Test func `sound that the way held back with the pictures stays with them`() throws {
        run(seconds: 20) { time in (time, time) }
        // Two seconds of both come in one.
        for time in stride(from: 20_000, to: 23_000, by: 20) as StrideTo<Int64> {
            let arrival = start + .milliseconds(max(time + 10, 22_000 + (time - 20_000) / 3))
            timeline.observe(time * 48, of: .audio, arrival: arrival)
            timeline.observe(time * 90, of: .video, arrival: arrival)
        }
        #expect(try abs(error(of: .audio, at: 23, truth: 23_000)) < 100)
    }

    @Test func `pictures whose clock jumps an hour ahead go with the sound again`() throws {
        run(seconds: 60) { time in (time, time < 20_000 ? time : time + 3_600_000) }
        #expect(try abs(error(of: .audio, at: 60, truth: 60_000)) < 100)
        #expect(try abs(error(of: .video, at: 60, truth: 3_660_000)) < 100)
    }

    /// As where it is away for less than half a second, with reports and without.
    @Test(arguments: [true, false])
    func `sound whose clock stood still for a moment goes with the pictures`(_ reports: Bool) throws {
        run(seconds: 23, reports: reports) { time in (time < 20_000 ? time : time < 20_300 ? nil : time - 300, time) }
        #expect(try abs(error(of: .audio, at: 23, truth: 22_700)) < 100)
    }

    @Test func `sound whose clock stood still for less than that goes with the pictures after some reports`() throws {
        run(seconds: 120) { time in (time < 20_000 ? time : time < 20_160 ? nil : time - 160, time) }
        let audio = try error(of: .audio, at: 120, truth: 119_840)
        #expect(try abs(audio - error(of: .video, at: 120, truth: 120_000)) <= 10)
    }

    /// As where another clip follows.
    @Test(arguments: [300, 2_900] as [Int64], [true, false])
    func `a track whose clock jumps ahead a little goes with the other one`(_ jump: Int64, _ isSound: Bool) throws {
        run(seconds: 23) { time in
            let ahead = time < 20_000 ? time : time + jump
            return (isSound ? ahead : time, isSound ? time : ahead)
        }
        #expect(try abs(error(of: .audio, at: 23, truth: 23_000 + (isSound ? jump : 0))) < 100)
        #expect(try abs(error(of: .video, at: 23, truth: 23_000 + (isSound ? 0 : jump))) < 100)
    }

    /// What fills the way holds both back.
    @Test func `sound and pictures that come late for a while stay where they are`() throws {
        run(seconds: 20) { time in (time, time) }
        for time in stride(from: 20_000, to: 40_000, by: 20) as StrideTo<Int64> {
            for (track, delay) in [(TrackID.audio, 310), (.video, 390)] as [(TrackID, Int64)] {
                timeline.observe(time * track.clockRate / 1000, of: track, arrival: start + .milliseconds(time + delay))
            }
            #expect(try abs(error(of: .audio, at: 40, truth: 40_000)) < 100)
        }
    }

    /// As where another upload ends that had filled a queue before us.
    @Test(arguments: [190, 220, 300, 400] as [Int64])
    func `a way that becomes quicker parts no tracks`(_ queue: Int64) throws {
        for time in stride(from: 0, to: 120_000, by: 20) as StrideTo<Int64> {
            let now = start + .milliseconds(time + (time < 20_000 ? queue : 0))
            let ntp = WallTime(nanosecondsSince1970: 1_700_000_000_000_000_000 + time * 1_000_000).ntp
            for (track, delay, interval) in [(TrackID.audio, 10, 5_000), (.video, 90, 1_000)] as [(TrackID, Int64, Int64)] {
                let timestamp = time * track.clockRate / 1000
                timeline.observe(timestamp, of: track, arrival: now + .milliseconds(delay + time % 7))
                if time % interval == 0 { timeline.publisherReported(ntp: ntp, timestamp: timestamp, of: track) }
            }
            guard time >= 40_000, time % 1_000 == 0 else { continue }
            let second = time / 1_000
            let skew = try error(of: .audio, at: second, truth: time) - error(of: .video, at: second, truth: time)
            #expect(abs(skew) < 50, "at \(second) s")
        }
    }

    @Test func `a first picture for which the encoder took long counts for nothing`() throws {
        for (number, delay) in [(0, 200), (15, 10), (30, 10)] as [(Int64, Int64)] {
            timeline.observe(number * 3_000, of: .video, arrival: start + .milliseconds(number * 100 / 3 + delay))
        }
        #expect(try abs(error(of: .video, at: 1, truth: 1_000)) <= 11)
    }

    @Test func `reports of a publisher without a wall clock are none`() throws {
        let silent = Timeline()
        for second in 0..<60 as Range<Int64> {
            let (audio, arrival) = (second * 48_000, start + .seconds(second))
            for each in [timeline, silent] { each.observe(audio, of: .audio, arrival: arrival) }
            timeline.publisherReported(ntp: 0, timestamp: audio, of: .audio)
        }
        let told = try #require(timeline.timestamp(of: .audio, at: start + .seconds(60)))
        #expect(told == silent.timestamp(of: .audio, at: start + .seconds(60)))
    }

    @Test func `timestamps and reports of any size never trap`() {
        var generator = SplitMix64(seed: 5)
        for step in 0..<10_000 {
            let arrival = MonotonicTime(nanoseconds: Int64(step) * 1_000_000)
            timeline.observe(.random(in: .min ... .max, using: &generator), of: .video, arrival: arrival)
            timeline.publisherReported(
                ntp: generator.next(), timestamp: .random(in: .min ... .max, using: &generator), of: .video)
            _ = timeline.timestamp(of: .video, at: arrival)
        }
    }
}
