import MP4
import Testing
import Wire

@testable import Recording

@Suite("SegmentMachine")
struct SegmentMachineTests {
    @Test
    func `cuts at the first keyframe after the target, with every sample in its place`() {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 20)
        script.finish()
        #expect(script.segments.map(\.duration).dropLast() == [.seconds(6), .seconds(6), .seconds(6)])
        #expect(script.segments.map(\.number) == [1, 2, 3, 4])
        #expect(script.segments.allSatisfy { $0.isEnded && $0.isIndependent && !$0.isDiscontinuous && $0.map == 0 })
        #expect(script.initializations.map(\.codecs) == ["avc1.42c00d,mp4a.40.2"])
        #expect(script.runs(of: 1).reduce(0) { $0 + $1.sampleCount } == 600)
        #expect(script.runs(of: 2).reduce(0) { $0 + $1.sampleCount } == 937)
        #expect(script.goesOn(1) && script.goesOn(2))
        #expect(script.runs(of: 1).reduce(0) { $0 + $1.duration } == 20 * 90_000)
        // A part a second, so that a crash costs no more.
        #expect(script.segments[0].fragments.count == 6)
    }

    @Test
    func `leaves out sound before the first keyframe`() {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 8, firstKey: 45)
        script.finish()
        let video = script.runs(of: 1)
        let audio = script.runs(of: 2)
        #expect(video.first?.decodeTime == 0 && script.segments.first?.time == 45 * 3_000)
        #expect(audio.first.map { $0.decodeTime < 1_024 } == true)
        #expect(video.reduce(0) { $0 + $1.sampleCount } == 240 - 45)
    }

    /// A decoder of two channels can make nothing of frames that have one.
    @Test
    func `sound that waits for a keyframe is left out where another format follows`() {
        var script = SegmentScript()
        script.describeAudio(SegmentScript.mono)
        script.hear(at: 30_000, byteCount: 10)
        script.describeAudio()
        script.play(seconds: 2)
        script.finish()
        #expect(script.initializations.count == 1)
        #expect(script.runs(of: 2).first?.decodeTime == 0)
        #expect(script.runs(of: 2).reduce(0) { $0 + $1.sampleCount } == 93)
    }

    /// Whether it waited for a keyframe or was written already, for want of pictures.
    @Test(arguments: [0.5, 5])
    func `sound that came before the pictures' clock was known goes with it`(_ seconds: Double) {
        var script = SegmentScript()
        script.describeAudio()
        let (sound, pictures) = (Int64(1) << 40, Int64(7_000_000))
        let length = Int64(seconds * 90_000)
        script.play(seconds: seconds, from: sound, hasVideo: false)
        script.machine.clockMoved(by: pictures - sound)
        script.play(seconds: 4, from: pictures + length)
        script.finish()
        let writtenAlone = seconds > 2 ? seconds : 0
        #expect(abs(script.totalDuration.inSeconds - 4 - writtenAlone) < 0.1)
        #expect(script.goesOn(1) && script.goesOn(2))
    }

    /// One move that the machine believes, and two: the sum is not to be told in nanoseconds.
    @Test(arguments: [1, 2])
    func `sound that has moved far away from the first picture is left out`(_ moves: Int) {
        var script = SegmentScript()
        script.describeAudio()
        script.hear(at: 1 << 45, byteCount: 10)
        for _ in 0..<moves { script.machine.clockMoved(by: 1 << 45) }
        script.play(seconds: 2, hasAudio: false)
        script.finish()
        #expect(abs(script.totalDuration.inSeconds - 2) < 0.1)
        #expect(script.runs(of: 2).isEmpty && script.goesOn(1))
    }

    /// A reading may tell of the jump of the pictures' clock before a picture does.
    @Test(arguments: [600, 3_600, -3_600] as [Int64])
    func `a jump that a reading tells of first is one`(_ jump: Int64) {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 5, from: 1 << 40)
        script.machine.soundMoved(by: jump * 90_000)
        script.play(seconds: 5, from: 1 << 40 + (5 + jump) * 90_000)
        script.finish()
        #expect(script.segments.count { $0.isDiscontinuous } == 1)
        #expect(script.goesOn(1) && script.goesOn(2))
        #expect(abs(script.totalDuration.inSeconds - 10) < 0.1)
    }

    /// A jump forward, back, and one that a gap explains.
    @Test(arguments: [(600.0, true), (-1, true), (-4, true), (-3_600, true), (1, false), (3, false)])
    func `goes on over jumps of the encoder's time`(_ jump: Double, _ isDiscontinuous: Bool) {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 5, from: 1 << 33)
        script.play(seconds: 5, from: 1 << 33 + Int64((5 + jump) * 90_000))
        script.finish()
        #expect(script.segments.contains { $0.isDiscontinuous } == isDiscontinuous)
        #expect(script.initializations.count == 1)
        #expect(script.goesOn(1) && script.goesOn(2))
        let expected = isDiscontinuous ? 10.0 : 10 + jump
        #expect(abs(script.totalDuration.inSeconds - expected) < 0.1)
    }

    /// A third of a second back, which is no jump: the segment before has begun after that.
    @Test
    func `no segment lasts less than nothing where other parameter sets step back`() {
        var script = SegmentScript()
        script.showPicture(at: 90_000, isKey: true)
        script.sets.sequence = SegmentScript.larger
        script.showPicture(at: 60_000, isKey: true)
        script.play(seconds: 2, from: 93_000, hasAudio: false)
        script.finish()
        #expect(script.segments.count == 2 && script.segments.allSatisfy { $0.isEnded && $0.duration >= .zero })
        #expect(script.runs(of: 1).reduce(0) { $0 + $1.sampleCount } == 62)
        #expect(script.goesOn(1))
    }

    /// The first of them waits for sound when the second one comes.
    @Test
    func `no segment lasts less than nothing where keyframes step back`() {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 5.8)
        script.showPicture(at: 576_000, isKey: true)
        script.showPicture(at: 540_000, isKey: true)
        script.finish()
        #expect(script.segments.allSatisfy { $0.isEnded && $0.duration >= .zero })
        #expect(script.runs(of: 1).reduce(0) { $0 + $1.sampleCount } == 176)
        #expect(script.goesOn(1) && script.goesOn(2))
    }

    @Test(arguments: [32, 33])
    func `passes where 32 bits of time wrap, or 33`(_ bits: Int) {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 10, from: 1 << bits - 5 * 90_000)
        script.finish()
        #expect(!script.segments.contains { $0.isDiscontinuous })
        #expect(script.goesOn(1) && script.goesOn(2))
    }

    @Test(arguments: [
        ParameterSets(sequence: SegmentScript.larger, picture: SegmentScript.sets.picture),
        ParameterSets(sequence: SegmentScript.sets.sequence, picture: [[0x68, 0xCE, 0x38, 0x80]]),
    ])
    func `makes another beginning of another picture size or other parameters, and no gap`(_ sets: ParameterSets) {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 3)
        script.sets = sets
        script.play(seconds: 3, from: 3 * 90_000)
        script.finish()
        #expect(script.initializations.count == 2)
        #expect(script.segments.map(\.map) == [0, 1])
        #expect(script.segments.map(\.isDiscontinuous) == [false, true])
        #expect(script.segments[0].duration == .seconds(3))
        #expect(script.goesOn(1) && script.goesOn(2))
    }

    @Test
    func `ends a segment after a minute without a keyframe, and says that the next has none`() {
        var script = SegmentScript()
        script.keyInterval = 100_000
        script.describeAudio()
        script.play(seconds: 130)
        script.finish()
        #expect(script.segments.map(\.isIndependent) == [true, false, false])
        #expect(script.segments[0].duration == .seconds(60))
        #expect(script.segments[0].fragments.count == 60)
        #expect(script.largestFragment < 20_000)
    }

    @Test
    func `keyframes every 8.3 s make segments as long`() {
        var script = SegmentScript()
        script.keyInterval = 249
        script.describeAudio()
        script.play(seconds: 20)
        script.finish()
        #expect(script.segments.map(\.duration).dropLast() == [.milliseconds(8_300), .milliseconds(8_300)])
    }

    @Test(arguments: [true, false])
    func `records sound alone`(_ expectsVideo: Bool) {
        var script = SegmentScript(expectsVideo: expectsVideo)
        script.describeAudio()
        script.play(seconds: 20, hasVideo: false)
        script.finish()
        #expect(script.initializations.map(\.codecs) == ["mp4a.40.2"])
        #expect(script.segments.count == 4 && script.segments.allSatisfy(\.isIndependent))
        #expect(script.runs(of: 2).reduce(0) { $0 + $1.sampleCount } == 937)
        #expect(script.goesOn(2))
    }

    @Test
    func `pictures that follow sound alone begin anew`() {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 5, hasVideo: false)
        script.play(seconds: 5, from: 5 * 90_000)
        script.finish()
        #expect(script.initializations.map(\.codecs) == ["mp4a.40.2", "avc1.42c00d,mp4a.40.2"])
        #expect(script.segments.map(\.isDiscontinuous) == [false, true])
        #expect(script.goesOn(2))
    }

    @Test
    func `sound that follows pictures alone begins at a keyframe, in a segment that has a place for it`() {
        var script = SegmentScript()
        script.play(seconds: 3, hasAudio: false)
        script.describeAudio()
        script.play(seconds: 5, from: 3 * 90_000, firstKey: 30)
        script.finish()
        #expect(script.initializations.map(\.codecs) == ["avc1.42c00d", "avc1.42c00d,mp4a.40.2"])
        #expect(script.segments.map(\.map) == [0, 1])
        #expect(script.segments.map(\.isDiscontinuous) == [false, true])
        #expect(script.segments.map(\.isIndependent) == [true, true])
        #expect(script.segments[0].duration == .seconds(4))
        #expect(script.segments[0].fragments.allSatisfy { ReadFragment($0).runs.map(\.track) == [1] })
        #expect(script.runs(of: 1).reduce(0) { $0 + $1.sampleCount } == 90 + 150)
        #expect(script.runs(of: 2).first?.decodeTime == 192_128)
        #expect(script.goesOn(1) && script.goesOn(2))
    }

    @Test
    func `sound goes on while pictures pause`() {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 4)
        script.play(seconds: 30, from: 4 * 90_000, hasVideo: false)
        script.play(seconds: 4, from: 34 * 90_000)
        script.finish()
        #expect(script.goesOn(1) && script.goesOn(2))
        #expect(!script.segments.contains { $0.isDiscontinuous })
        #expect(script.segments.allSatisfy { $0.duration < .seconds(14) })
        #expect(abs(script.totalDuration.inSeconds - 38) < 0.1)
    }

    @Test
    func `records pictures alone`() {
        var script = SegmentScript()
        script.play(seconds: 13, hasAudio: false)
        script.finish()
        #expect(script.initializations.map(\.codecs) == ["avc1.42c00d"])
        #expect(script.segments.map(\.duration) == [.seconds(6), .seconds(6), .seconds(1)])
    }

    @Test
    func `waits for a keyframe after a loss, and begins anew there`() {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 3)
        script.interrupt()
        script.play(seconds: 5, from: 4 * 90_000, firstKey: 30)
        script.finish()
        #expect(script.segments.map(\.isDiscontinuous) == [false, true])
        #expect(script.runs(of: 1).reduce(0) { $0 + $1.sampleCount } == 90 + 120)
        #expect(script.goesOn(1) && script.goesOn(2))
    }

    @Test
    func `goes on behind what another encoder left`() {
        var script = SegmentScript(
            continuing: .init(initializations: 2, segments: 7, duration: .seconds(41)))
        script.describeAudio()
        script.play(seconds: 7, from: 12_345)
        script.finish()
        #expect(script.segments.map(\.number) == [8, 9] && script.segments[0].isDiscontinuous && script.segments[0].map == 2)
        #expect(script.runs(of: 1).first?.decodeTime == Int64(41 * 90_000))
    }

    /// ffmpeg reads the first map alone.
    @Test
    func `keyframes of another map than the first bring their parameter sets along`() {
        var script = SegmentScript()
        script.play(seconds: 4, hasAudio: false)
        script.interrupt()
        script.play(seconds: 4, from: 1 << 33, hasAudio: false)
        script.sets.sequence = SegmentScript.larger
        script.play(seconds: 4, from: 1 << 33 + 360_000, hasAudio: false)
        script.finish()
        let sets = [SegmentScript.sets.sequence[0], SegmentScript.larger[0]]
        let counts: [[Int]] = script.segments.map { segment in
            sets.map { set in segment.fragments.reduce(0) { $0 + $1.ranges(of: set).count } }
        }
        #expect(script.segments.map(\.map) == [0, 0, 1])
        #expect(counts == [[0, 0], [0, 0], [0, 2]])
    }

    @Test
    func `what goes on behind another encoder's map brings its parameter sets along`() {
        var script = SegmentScript(continuing: .init(initializations: 1, segments: 1, duration: .seconds(6)))
        script.play(seconds: 2, hasAudio: false)
        script.finish()
        let set = SegmentScript.sets.picture[0]
        #expect(script.segments.map { $0.fragments.reduce(0) { $0 + $1.ranges(of: set).count } } == [1])
    }

    @Test
    func `reordered pictures have rising decoding times`() {
        var script = SegmentScript()
        // I P B B P B B …, each group closed by a keyframe.
        for group in 0..<5 {
            let start = Int64(group) * 180_000
            script.showPicture(at: start, isKey: true)
            for index in stride(from: 3, through: 57, by: 3) {
                for place in [index, index - 2, index - 1] { script.showPicture(at: start + Int64(place) * 3_000, isKey: false) }
            }
        }
        script.finish()
        #expect(script.goesOn(1))
        #expect(script.segments.first?.duration == .seconds(6))
    }

    @Test
    func `a flood of bytes without a keyframe is bounded`() {
        var script = SegmentScript()
        script.showPicture(at: 0, isKey: true)
        for index in 1..<100 { script.showPicture(at: Int64(index), isKey: false, byteCount: 1 << 20) }
        script.finish()
        #expect(script.largestFragment <= PendingMedia.maximumByteCount + (2 << 20))
    }

    /// Before a keyframe, beside a picture that nothing follows, where sound alone is recorded; large frames, then small ones.
    /// What is ahead of the others keeps nothing from being cut.
    @Test(arguments: [false, true], [false, true])
    func `sound whose time stands still is bounded`(_ expectsVideo: Bool, _ hasPicture: Bool) {
        var script = SegmentScript(expectsVideo: expectsVideo)
        script.describeAudio()
        if hasPicture { script.showPicture(at: 0, isKey: true) }
        var (bytes, frames) = (0, 0)
        for index in 0..<40_000 {
            script.hear(at: index == 1 ? 36_000 : 0, byteCount: index < 100 ? 1 << 20 : 1)
            let (waiting, pending) = (script.machine.waitingSound, script.machine.pending)
            bytes = max(bytes, waiting.byteCount, pending.byteCount)
            frames = max(frames, waiting.frames.count, pending.audio.count)
        }
        #expect(bytes <= PendingMedia.maximumByteCount + (1 << 20))
        #expect(frames <= PendingMedia.maximumFrames + 1)
        script.play(seconds: 3, from: 90_000)
        script.finish()
        #expect(script.goesOn(1) && script.goesOn(2))
        #expect(script.segments.allSatisfy { $0.isEnded && !$0.fragments.isEmpty && $0.duration >= .zero })
    }

    /// Two times in turn: no picture comes a second after the first.
    @Test
    func `as many small pictures wait as frames of sound where their times stand still`() {
        var script = SegmentScript()
        var most = 0
        for index in 0..<100_000 {
            script.showPicture(at: Int64(index % 2), isKey: index == 0, byteCount: 5)
            most = max(most, script.machine.pending.video.count)
        }
        script.finish()
        #expect(most <= PendingMedia.maximumFrames)
        #expect(script.runs(of: 1).reduce(0) { $0 + $1.sampleCount } == 100_000)
        #expect(script.segments.allSatisfy { $0.isEnded && $0.duration >= .zero } && script.goesOn(1))
    }

    /// Times that no honest encoder has.
    @Test(arguments: [Int64.min, .max, 1 << 60, -(1 << 50)])
    func `takes no harm of absurd times`(_ time: Int64) {
        var script = SegmentScript()
        script.describeAudio()
        script.play(seconds: 2)
        script.showPicture(at: time, isKey: true)
        _ = script.machine.audioCame([1], at: EncoderTime(ticks: time), duration: 1_024)
        script.play(seconds: 2, from: 2 * 90_000)
        script.finish()
        #expect(script.goesOn(1) && script.goesOn(2))
    }

    /// The last seed once found sound of before a keyframe, on top of what had been written.
    @Test(arguments: Array(0..<40) + [10_954_611_665_574_958_113] as [UInt64])
    func `a random walk never goes back in time`(_ seed: UInt64) {
        var walk = Walk(state: seed)
        var script = SegmentScript(target: 2)
        script.keyInterval = 7
        script.describeAudio()
        var time: Int64 = 0
        for _ in 0..<300 {
            switch walk.next() % 6 {
            case 0: time += Int64(walk.next() % 2_000_000) - 900_000
            case 1: script.interrupt()
            case 2: script.sets.picture = [[0x68, UInt8(walk.next() % 4)]]
            default:
                script.play(
                    seconds: Double(walk.next() % 30) / 10, from: time, firstKey: Int(walk.next() % 9),
                    hasVideo: walk.next() % 5 > 0, hasAudio: walk.next() % 5 > 0)
                time += Int64(walk.next() % 300_000)
            }
        }
        script.finish()
        #expect(script.goesOn(1) && script.goesOn(2), "seed \(seed)")
        #expect(script.segments.allSatisfy { $0.isEnded && !$0.fragments.isEmpty }, "seed \(seed)")
        #expect(script.segments.map(\.number) == Array(1...max(1, script.segments.count)), "seed \(seed)")
    }
}

/// splitmix64.
private struct Walk {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
