import MP4
import Wire

/// Makes the segments of one recording of what its encoder sends. A value without clock or I/O: access units and frames of audio
/// with times go in, what is to be written comes out.
///
/// An encoder's times go in, and those of the file go on over its jumps and restarts, so that a segment never begins before the
/// one before it ended. Segments begin with keyframes. They end with the first keyframe after the target, or after a minute
/// without one. With a fragment a second, a crash costs no more.
struct SegmentMachine {
    enum Action: Equatable {
        /// Segments after this need it; numbers rise from 0.
        case initialization(number: Int, InitializationSegment)
        /// - Parameter time: of its first sample, as it came in.
        case segmentBegan(number: Int, map: Int, isDiscontinuous: Bool, isIndependent: Bool, time: EncoderTime)
        /// A part of the segment that began last.
        /// - Parameter duration: of the segment up to the end of this part.
        case fragment(Fragment, duration: Duration)
        case segmentEnded
    }

    private enum Phase {
        /// Nothing is written before a keyframe, or before it is clear that there will be sound alone.
        case waiting
        case running
    }

    private typealias Cut = SegmentBounds.Cut

    private let expectsVideo: Bool
    private var phase = Phase.waiting
    private var tracks = TrackDescriptions()
    private(set) var waitingSound = WaitingSound()
    private(set) var pending = PendingMedia()
    private var clock = AudioClock(timescale: 48_000)
    private var progress = EncoderProgress()
    private var bounds: SegmentBounds
    private var sequence: SegmentSequence
    /// The next cut, while sound of before it is waited for.
    private var cut: Cut?
    /// The segment that pictures have begun alone has no place for sound: it begins with the next one, at their next keyframe.
    private var soundWaits = false
    /// ffmpeg reads no map but a playlist's first one: under the others each keyframe brings its parameter sets along.
    private var keyframesHaveSets = false
    /// Where the file ends.
    private var end: FileTime
    /// Where what comes now has begun in the file: sound of before it is heard by nobody.
    private var beginning = FileTime.zero

    /// - Parameters:
    ///   - target: a segment's aimed duration.
    ///   - expectsVideo: false where sound alone is recorded.
    ///   - former: the recording that this one goes on with, if any.
    init(target: Duration, expectsVideo: Bool, continuing former: Position = Position()) {
        (self.expectsVideo, end) = (expectsVideo, FileTime(ticks: former.duration.ticks))
        bounds = SegmentBounds(target: target.ticks)
        sequence = SegmentSequence(continuing: former)
    }

    // MARK: - Inputs

    /// How the audio that follows is to be decoded.
    mutating func audioDescribed(_ description: SampleDescription) -> [Action] {
        guard tracks.audio != description else { return [] }
        if tracks.audio != nil {
            breakOff()
            // What waits for a keyframe is of the format before.
            waitingSound.removeAll()
        }
        soundWaits = phase == .running && sequence.hasBegunSegment
        tracks.audio = description
        clock = AudioClock(timescale: tracks.audioTimescale)
        return sequence.takeActions()
    }

    mutating func videoCame(_ unit: AccessUnit, at time: EncoderTime) -> [Action] {
        guard time.isPlausible else { return [] }
        if phase == .running, progress.isJump(to: progress.inFile(time), from: progress.lastVideo) { breakOff() }
        if phase == .running, tracks.describes(unit), !(soundWaits && unit.isKeyframe) {
            plan(progress.inFile(time), isKeyframe: unit.isKeyframe)
        } else if !beginPictures(with: unit, at: time) {
            return sequence.takeActions()
        }
        let fileTime = progress.inFile(time)
        progress.pictureCame(at: fileTime)
        let bytes = keyframesHaveSets && unit.isKeyframe ? unit.bytesWithSets : unit.bytes
        pending.append(PendingMedia.Video(timestamp: fileTime, byteCount: bytes.count, isSync: unit.isKeyframe), bytes)
        cutIfComplete()
        cutIfFull()
        return sequence.takeActions()
    }

    /// - Parameters:
    ///   - time: of its first sample.
    ///   - ownTimestamp: the same in samples by the sound's own clock; nil where that is the encoder's time.
    ///   - duration: in samples.
    mutating func audioCame(_ bytes: [UInt8], at time: EncoderTime, ownTimestamp: Int64? = nil, duration: Int64) -> [Action] {
        guard tracks.audio != nil, duration > 0, time.isPlausible else { return [] }
        if phase == .running, progress.isJump(to: progress.inFile(time), from: progress.lastAudioEnd) { breakOff() }
        let samples = clock.samples(in: time.ticks)
        let frame = AudioFrame(ownTimestamp: ownTimestamp ?? samples, duration: duration, bytes: bytes)
        if phase == .waiting {
            keepWhileWaiting(frame, at: samples)
        } else {
            append(frame, at: time)
            cutByAudio()
            cutIfComplete()
            cutIfFull()
        }
        return sequence.takeActions()
    }

    /// Sound took another clock for the common one until now: times that follow are higher by this much for the same moments.
    mutating func clockMoved(by ticks: Int64) {
        guard ticks.magnitude <= EncoderTime.largest, tracks.audio != nil else { return }
        if phase == .running { progress.clockMoved(by: ticks) } else { waitingSound.move(by: clock.samples(in: ticks)) }
    }

    /// Sound is later by this much than what told its times knew: so are those that follow.
    mutating func soundMoved(by ticks: Int64) {
        guard ticks.magnitude <= EncoderTime.largest, tracks.audio != nil else { return }
        guard phase == .running else { return waitingSound.move(by: clock.samples(in: ticks)) }
        guard progress.soundMoved(by: ticks) else { return }
        pending.moveAudio(by: clock.samples(in: ticks))
        pending.removeAudio(before: clock.samples(at: beginning))
    }

    /// What comes next has other numbers and times, or something is missing: a keyframe begins anew.
    mutating func interrupted() -> [Action] {
        breakOff()
        return sequence.takeActions()
    }

    /// Nothing more comes.
    mutating func finish() -> [Action] { interrupted() }

    // MARK: - Beginning and breaking off

    /// Until now there was nothing, one track alone, or another picture: what follows is another kind of segment.
    /// - Returns: false where nothing can begin with the unit.
    private mutating func beginPictures(with unit: AccessUnit, at time: EncoderTime) -> Bool {
        guard expectsVideo, unit.isKeyframe, let description = SampleDescription(unit.parameterSets) else { return false }
        if phase == .running { renew(at: progress.inFile(time)) } else { begin(at: time) }
        tracks.describe(description, by: unit.parameterSets)
        keyframesHaveSets = !sequence.isFirst(tracks.initialization)
        return true
    }

    private mutating func begin(at time: EncoderTime) {
        (phase, beginning) = (.running, end)
        progress.begin(at: time, as: end)
        bounds.begin(at: end)
        clock = AudioClock(timescale: clock.timescale)
        let sound = waitingSound.frames
        waitingSound.removeAll()
        for (samples, frame) in sound {
            // Its clock may have moved anywhere.
            let frameTime = EncoderTime(ticks: clock.ticks(in: samples))
            guard frameTime >= time, frameTime - time <= EncoderProgress.longestGap else { continue }
            append(frame, at: frameTime)
        }
    }

    /// Writes what there is and waits for a keyframe; what follows is discontinuous.
    private mutating func breakOff() {
        guard phase == .running else { return }
        cutAll(isIndependent: true)
        phase = .waiting
        sequence.breakOff()
        progress.breakOff()
        pending.removeAll()
    }

    /// Ends the segment at `time`, where another kind of media begins.
    private mutating func renew(at time: FileTime) {
        cutAsPlanned()
        perform(Cut(videoCount: pending.video.count, time: time, endsSegment: true, isIndependent: true))
        sequence.breakOff()
    }

    /// Until a keyframe comes sound is kept for a while; then it is clear that there is sound alone.
    /// - Parameter samples: the encoder's time, in samples.
    private mutating func keepWhileWaiting(_ frame: AudioFrame, at samples: Int64) {
        waitingSound.append(frame, at: samples, timescale: clock.timescale)
        guard let first = waitingSound.frames.first?.encoderSamples else { return }
        guard !expectsVideo || clock.ticks(in: samples &- first) >= Self.longestWaitForVideo else { return }
        tracks.removeVideo()
        begin(at: EncoderTime(ticks: clock.ticks(in: first)))
    }

    private mutating func append(_ frame: AudioFrame, at time: EncoderTime) {
        let fileTime = progress.inFile(time)
        progress.soundCame(until: fileTime + clock.ticks(in: frame.duration))
        guard fileTime >= beginning, !soundWaits else { return }
        pending.append(PendingMedia.Audio(timestamp: clock.samples(at: fileTime), frame: frame))
    }

    // MARK: - Cutting

    /// Where a picture ends what was before it.
    private mutating func plan(_ time: FileTime, isKeyframe: Bool) {
        let endsSegment = bounds.endsSegment(atPicture: time, isKeyframe: isKeyframe)
        if endsSegment { cutAsPlanned() }
        guard endsSegment || (cut == nil && bounds.endsPart(at: time) && !pending.isReordered) else { return }
        cut = Cut(videoCount: pending.video.count, time: time, endsSegment: endsSegment, isIndependent: isKeyframe)
    }

    /// Where there are no pictures, or none for a while, sound goes on alone.
    private mutating func cutByAudio() {
        guard cut == nil, let time = progress.lastAudioEnd else { return }
        if tracks.video != nil, time - (progress.lastVideo ?? bounds.segmentStart) < Self.longestPause { return }
        let endsSegment = bounds.endsSegment(atSound: time)
        guard endsSegment || bounds.endsPart(at: time) else { return }
        perform(
            Cut(videoCount: pending.video.count, time: time, endsSegment: endsSegment, isIndependent: tracks.video == nil))
    }

    private mutating func cutIfComplete() {
        if let cut, tracks.audio == nil || progress.hasSound(before: cut.time) { perform(cut) }
    }

    /// Ends the segment when too much waits. What has a time behind the cut even so is thrown away.
    private mutating func cutIfFull() {
        guard pending.isFull else { return }
        cutAll(isIndependent: tracks.video == nil)
        pending.removeAll()
    }

    private mutating func cutAll(isIndependent: Bool) {
        cutAsPlanned()
        let time = progress.end(after: bounds.segmentStart)
        perform(Cut(videoCount: pending.video.count, time: time, endsSegment: true, isIndependent: isIndependent))
    }

    private mutating func cutAsPlanned() {
        if let cut { perform(cut) }
    }

    /// A picture may be up to half a second before the one that its segment begins with; no segment ends before it begins.
    private mutating func perform(_ planned: Cut) {
        let time = max(planned.time, bounds.segmentStart)
        cut = nil
        writeFragment(videoCount: planned.videoCount, until: time)
        end = max(end, time, clock.end ?? end)
        bounds.end(at: time, segmentToo: planned.endsSegment)
        guard planned.endsSegment else { return }
        sequence.endSegment(nextIsIndependent: planned.isIndependent)
        soundWaits = false
    }

    private mutating func writeFragment(videoCount: Int, until time: FileTime) {
        let video = pending.cutVideo(count: videoCount, end: time)
        let audio = pending.cutAudio(before: clock.samples(at: time), by: &clock)
        guard video != nil || audio != nil else { return }
        let duration = Duration.ticks(time - bounds.segmentStart)
        sequence.append(
            [video, audio].compactMap { $0 }, duration, of: tracks, segmentAt: progress.ofEncoder(bounds.segmentStart))
    }

    private static let longestWaitForVideo: Int64 = 2 * 90_000
    /// Pictures may pause so long before sound is cut without them.
    private static let longestPause: Int64 = 3 * 90_000
}
