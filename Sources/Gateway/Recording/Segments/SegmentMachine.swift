import AAC
import H264
import MP4
import Opus
import Wire

/// Makes the segments of one recording of what its encoder sends. A value without clock or I/O: access units and frames of audio
/// with times go in, what is to be written comes out.
///
/// Times that go in are those of one encoder, in ticks of 90 kHz for both tracks; those in the files go on over jumps, restarts
/// and encoders, so that a segment never begins before the one before it ended. Segments begin with keyframes. They end with the
/// first keyframe after the target, or after a minute without one. A fragment a second makes that a crash costs no more.
struct SegmentMachine {
    enum Action: Equatable {
        /// Segments after this need it; numbers rise from 0.
        case initialization(number: Int, InitializationSegment)
        /// - Parameter time: of its first sample, as it came in.
        case segmentBegan(number: Int, map: Int, isDiscontinuous: Bool, isIndependent: Bool, time: Int64)
        /// A part of the segment that began last.
        /// - Parameter duration: of the segment up to the end of this part.
        case fragment(Fragment, duration: Duration)
        case segmentEnded
    }

    static let videoTrackID: UInt32 = 1
    static let audioTrackID: UInt32 = 2

    private enum Phase {
        /// Nothing is written before a keyframe, or before it is clear that there will be sound alone.
        case waiting
        case running
    }

    private struct Cut {
        /// Pictures before it.
        var videoCount: Int
        /// In the file's time.
        var time: Int64
        var endsSegment: Bool
        var isIndependent: Bool
    }

    // Given.
    private let target: Int64
    private let expectsVideo: Bool

    // What the media is.
    private var parameterSets: ParameterSets?
    private var video: SampleDescription?
    private var audio: (description: SampleDescription, timescale: Int64)?

    // Where the recording is.
    private var phase = Phase.waiting
    private var actions: [Action] = []
    private(set) var pending = PendingMedia()
    private var clock = AudioClock(timescale: 48_000)
    private var cut: Cut?
    /// From the encoder's times to the file's.
    private var shift: Int64 = 0
    /// Where the file ends, and where the segment and the fragment that are being filled begin.
    private var end: Int64 = 0
    private var segmentStart: Int64 = 0
    /// Where what comes now has begun in the file: sound of before it is heard by nobody.
    private var beginning: Int64 = 0
    private var fragmentStart: Int64 = 0
    private var lastVideo: Int64?
    private var frameDuration: Int64 = 3_000
    private var lastAudioEnd: Int64?
    private var hasBegunSegment = false
    private var isDiscontinuous = false
    private var isIndependent = true
    private var initialization: InitializationSegment?
    private var initializationCount: Int
    private var segmentCount: Int
    private var fragmentCount: UInt32 = 0

    /// - Parameters:
    ///   - target: a segment's aimed duration.
    ///   - expectsVideo: false where sound alone is recorded.
    ///   - former: the recording that this one goes on with, if any.
    init(target: Duration, expectsVideo: Bool, continuing former: Position = Position()) {
        (self.target, self.expectsVideo) = (target.nanoseconds * 9 / 100_000, expectsVideo)
        (initializationCount, segmentCount) = (former.initializations, former.segments)
        end = former.duration.nanoseconds * 9 / 100_000
        isDiscontinuous = segmentCount > 0
    }

    /// How much of a recording there is already.
    struct Position: Equatable {
        var initializations = 0
        var segments = 0
        var duration = Duration.zero
    }

    // MARK: - Inputs

    /// How the audio that follows is to be decoded.
    mutating func audioDescribed(_ description: SampleDescription) -> [Action] {
        guard audio?.description != description else { return [] }
        if audio != nil { breakOff() }
        let timescale: Int64 = if case .aac(let configuration) = description { Int64(configuration.sampleRate) } else { 48_000 }
        audio = (description, timescale)
        clock = AudioClock(timescale: timescale)
        return take()
    }

    mutating func videoCame(_ unit: AccessUnit) -> [Action] {
        guard unit.timestamp.magnitude <= Self.largestTime else { return [] }
        if phase == .running, isJump(to: unit.timestamp &+ shift, from: lastVideo) { breakOff() }
        switch phase {
        case .waiting:
            guard unit.isKeyframe, let description = description(of: unit) else { return take() }
            (video, parameterSets) = (description, unit.parameterSets)
            begin(at: unit.timestamp)
        case .running where video == nil || (unit.isKeyframe && unit.parameterSets != parameterSets):
            // Until now there was sound alone, or another picture: what follows is another kind of segment.
            guard unit.isKeyframe, let description = description(of: unit) else { return take() }
            renew(at: unit.timestamp &+ shift)
            (video, parameterSets) = (description, unit.parameterSets)
        case .running: plan(unit.timestamp &+ shift, isKeyframe: unit.isKeyframe)
        }
        guard phase == .running, video != nil else { return take() }
        let time = unit.timestamp &+ shift
        if let lastVideo, time > lastVideo { frameDuration = min(time - lastVideo, Self.longestFrame) }
        lastVideo = max(time, lastVideo ?? time)
        pending.append(PendingMedia.Video(timestamp: time, byteCount: unit.bytes.count, isSync: unit.isKeyframe), unit.bytes)
        cutIfComplete()
        cutIfFull()
        return take()
    }

    /// - Parameters:
    ///   - time: of its first sample, in ticks of 90 kHz of the encoder's time.
    ///   - duration: in samples.
    mutating func audioCame(_ bytes: [UInt8], at time: Int64, duration: Int64) -> [Action] {
        guard let audio, duration > 0, time.magnitude <= Self.largestTime else { return [] }
        if phase == .running, isJump(to: time &+ shift, from: lastAudioEnd) { breakOff() }
        if phase == .waiting {
            keepWhileWaiting(bytes, at: time, duration: duration)
        } else {
            let length = duration * 90_000 / audio.timescale
            append(bytes, at: time &+ shift, duration: duration)
            lastAudioEnd = time &+ shift &+ length
            planByAudio()
            cutIfComplete()
            cutIfFull()
        }
        return take()
    }

    /// What sound had for the common clock was another one: times that come from now on are higher by so much for the same moments.
    mutating func clockMoved(by ticks: Int64) {
        guard ticks.magnitude <= Self.largestTime, let audio else { return }
        if phase == .running { shift &-= ticks } else { pending.moveAudio(by: ticks * audio.timescale / 90_000) }
    }

    /// What comes next has other numbers and times, or something is missing: a keyframe begins anew.
    mutating func interrupted() -> [Action] {
        breakOff()
        return take()
    }

    /// Nothing more comes.
    mutating func finish() -> [Action] {
        breakOff()
        return take()
    }

    private mutating func take() -> [Action] {
        defer { actions = [] }
        return actions
    }

    // MARK: - Beginning and breaking off

    private mutating func begin(at time: Int64) {
        (shift, beginning) = (end &- time, end)
        if let audio {
            let waiting = pending.audio
            pending.removeAll()
            for frame in waiting {
                // They waited with the encoder's times, in samples, which may have moved anywhere.
                let frameTime = frame.timestamp &* 90_000 / audio.timescale
                guard frameTime >= time, frameTime &- time <= Self.longestGap else { continue }
                append(frame.bytes, at: frameTime &+ shift, duration: frame.duration)
                lastAudioEnd = frameTime &+ shift &+ frame.duration * 90_000 / audio.timescale
            }
            clock = AudioClock(timescale: audio.timescale)
        }
        (phase, segmentStart, fragmentStart, lastVideo) = (.running, end, end, nil)
        (hasBegunSegment, isIndependent, cut) = (false, true, nil)
    }

    /// Writes what there is and waits for a keyframe; what follows is discontinuous.
    private mutating func breakOff() {
        guard phase == .running else { return }
        cutAll(isIndependent: true)
        (phase, isDiscontinuous, lastVideo, lastAudioEnd) = (.waiting, segmentCount > 0, nil, nil)
        pending.removeAll()
    }

    /// Ends the segment at `time`, where another kind of media begins.
    private mutating func renew(at time: Int64) {
        if let cut { perform(cut) }
        perform(Cut(videoCount: pending.video.count, time: time, endsSegment: true, isIndependent: true))
        isDiscontinuous = segmentCount > 0
    }

    /// By the unit's parameter sets; nil when they cannot be read.
    private func description(of unit: AccessUnit) -> SampleDescription? {
        guard expectsVideo, unit.parameterSets.isComplete, let sequence = unit.parameterSets.sequence.first, sequence.count >= 4,
            let parsed = unsafe try? SequenceParameterSet(parsing: sequence.span.bytes)
        else { return nil }
        var record = AVCDecoderConfigurationRecord(
            sequenceParameterSet: sequence, pictureParameterSet: unit.parameterSets.picture[0])
        record.sequenceParameterSets = unit.parameterSets.sequence
        record.pictureParameterSets = unit.parameterSets.picture
        return .h264(record, width: parsed.width, height: parsed.height)
    }

    /// Until a keyframe comes sound is kept for a while; then it is clear that there is sound alone.
    private mutating func keepWhileWaiting(_ bytes: [UInt8], at time: Int64, duration: Int64) {
        guard let audio else { return }
        let samples = time &* audio.timescale / 90_000
        let isElsewhere = pending.audio.last.map { (samples - $0.timestamp).magnitude > UInt64(audio.timescale) } ?? false
        if isElsewhere || isFull { pending.removeAll() }
        pending.append(PendingMedia.Audio(timestamp: samples, duration: duration, bytes: bytes))
        guard let first = pending.audio.first else { return }
        let waited = (samples - first.timestamp) * 90_000 / audio.timescale
        guard !expectsVideo || waited >= Self.longestWaitForVideo else { return }
        (video, parameterSets) = (nil, nil)
        begin(at: first.timestamp &* 90_000 / audio.timescale)
    }

    private mutating func append(_ bytes: [UInt8], at time: Int64, duration: Int64) {
        guard let audio, time >= beginning else { return }
        pending.append(PendingMedia.Audio(timestamp: time &* audio.timescale / 90_000, duration: duration, bytes: bytes))
    }

    /// A step that no gap explains: both tracks are looked at, because one alone may pause.
    private func isJump(to time: Int64, from last: Int64?) -> Bool {
        let latest = max(lastVideo ?? .min, lastAudioEnd ?? .min)
        guard latest > .min else { return false }
        if time - latest > Self.longestGap { return true }
        return last.map { $0 - time > Self.longestStepBack } ?? (latest - time > Self.longestGap)
    }

    // MARK: - Cutting

    /// Where a picture ends what was before it.
    private mutating func plan(_ time: Int64, isKeyframe: Bool) {
        let length = time - segmentStart
        let endsSegment = isKeyframe ? length >= target - Self.tolerance : length >= Self.longestSegment
        if endsSegment {
            if let cut { perform(cut) }
            cut = Cut(videoCount: pending.video.count, time: time, endsSegment: true, isIndependent: isKeyframe)
        } else if cut == nil, time - fragmentStart >= Self.fragment, !pending.isReordered {
            cut = Cut(videoCount: pending.video.count, time: time, endsSegment: false, isIndependent: isKeyframe)
        }
    }

    /// Where there are no pictures, or none for a while, sound goes on alone.
    private mutating func planByAudio() {
        guard cut == nil, let audioEnd = lastAudioEnd else { return }
        if video != nil, audioEnd - (lastVideo ?? segmentStart) < Self.longestPause { return }
        let endsSegment = audioEnd - segmentStart >= target
        guard endsSegment || audioEnd - fragmentStart >= Self.fragment else { return }
        perform(
            Cut(
                videoCount: pending.video.count, time: audioEnd, endsSegment: endsSegment, isIndependent: video == nil))
    }

    /// Sound comes a little later than the pictures that it belongs to.
    private mutating func cutIfComplete() {
        guard let planned = cut else { return }
        let isComplete =
            audio == nil || lastAudioEnd.map { $0 >= planned.time } ?? false
            || (lastVideo ?? planned.time) - planned.time >= Self.longestWaitForAudio
        if isComplete { perform(planned) }
    }

    /// Ends the segment when too much waits. What has a time behind the cut even so is thrown away.
    private mutating func cutIfFull() {
        guard isFull else { return }
        cutAll(isIndependent: video == nil)
        pending.removeAll()
    }

    /// More waits than honest times ever let wait: a flood came, or times stand still.
    private var isFull: Bool {
        pending.byteCount > Self.maximumPendingByteCount
            || max(pending.audio.count, pending.video.count) > Self.maximumPendingFrames
    }

    private mutating func cutAll(isIndependent: Bool) {
        if let cut { perform(cut) }
        let time = max(segmentStart, lastVideo.map { $0 + frameDuration } ?? segmentStart, lastAudioEnd ?? segmentStart)
        perform(Cut(videoCount: pending.video.count, time: time, endsSegment: true, isIndependent: isIndependent))
    }

    /// A picture may be up to `longestStepBack` before the one that its segment begins with; no segment ends before it begins.
    private mutating func perform(_ planned: Cut) {
        var planned = planned
        planned.time = max(planned.time, segmentStart)
        cut = nil
        writeFragment(planned)
        fragmentStart = planned.time
        end = max(end, planned.time)
        if let audioEnd = clock.next { end = max(end, (audioEnd * 90_000 + clock.timescale - 1) / clock.timescale) }
        guard planned.endsSegment else { return }
        if hasBegunSegment { actions.append(.segmentEnded) }
        (hasBegunSegment, segmentStart, isIndependent) = (false, planned.time, planned.isIndependent)
    }

    private mutating func writeFragment(_ planned: Cut) {
        let videoRun = pending.cutVideo(count: planned.videoCount, end: planned.time)
        let audioRun = pending.cutAudio(before: planned.time &* (audio?.timescale ?? 0) / 90_000, by: &clock)
        guard videoRun != nil || audioRun != nil else { return }
        if !hasBegunSegment { beginSegment() }
        fragmentCount += 1
        var fragment = Fragment(sequenceNumber: fragmentCount)
        fragment.runs = [videoRun, audioRun].compactMap { $0 }
        actions.append(.fragment(fragment, duration: .nanoseconds((planned.time - segmentStart) * 100_000 / 9)))
    }

    private mutating func beginSegment() {
        var tracks: [MovieTrack] = []
        if let video {
            tracks.append(MovieTrack(id: Self.videoTrackID, timescale: MovieTrack.videoTimescale, description: video))
        }
        if let audio {
            tracks.append(
                MovieTrack(id: Self.audioTrackID, timescale: UInt32(clamping: audio.timescale), description: audio.description))
        }
        let needed = InitializationSegment(tracks: tracks)
        if needed != initialization {
            if initialization != nil { isDiscontinuous = true }
            initialization = needed
            actions.append(.initialization(number: initializationCount, needed))
            initializationCount += 1
        }
        segmentCount += 1
        actions.append(
            .segmentBegan(
                number: segmentCount, map: initializationCount - 1, isDiscontinuous: isDiscontinuous,
                isIndependent: isIndependent, time: segmentStart &- shift))
        (hasBegunSegment, isDiscontinuous) = (true, false)
    }

    // In ticks of 90 kHz.
    private static let fragment: Int64 = 90_000
    /// Encoders' clocks are not exact: a keyframe this much before the target is on it.
    private static let tolerance: Int64 = 4_500
    /// Then a segment ends without a keyframe.
    private static let longestSegment: Int64 = 60 * 90_000
    private static let longestWaitForAudio: Int64 = 45_000
    private static let longestWaitForVideo: Int64 = 2 * 90_000
    /// Pictures may pause so long before sound is cut without them.
    private static let longestPause: Int64 = 3 * 90_000
    private static let longestGap: Int64 = 10 * 90_000
    private static let longestStepBack: Int64 = 45_000
    private static let longestFrame: Int64 = 90_000
    /// Twelve years: no product of such a time overflows, and no honest encoder gets there.
    private static let largestTime: UInt64 = 1 << 45
    /// A minute at the contract's highest bitrate.
    static let maximumPendingByteCount = 1 << 26
    /// Of each track. A minute of Opus' shortest packets is 24,000.
    static let maximumPendingFrames = 1 << 15
}
