public import AAC
public import H264
public import Refusals
public import Settings
public import Wire

/// The media contract for one publish, RTMP and WHIP alike: fed with what arrives, it answers findings (docs/design.md 8).
///
/// Pure: no clock, no I/O; nothing is allocated for packets that break no rule. After every input ask `hasNews`.
public struct ContractMonitor {
    public enum Ingest: Sendable { case rtmp, whip }

    public let ingest: Ingest
    public private(set) var rules: ContractSettings
    /// There is something to take: `takeNews()`.
    public private(set) var hasNews = false
    /// The publish must end: the rest of its media is not judged.
    public private(set) var isOver = false
    private var encoder = EncoderFigures()
    /// RTMP's encoders cannot be asked for a keyframe: they must send one every few seconds. So must those of WHIP that do not
    /// heed requests.
    private var mustKeepKeyframeInterval: Bool

    private let family: EncoderFamily
    private var video: VideoState
    private var audio = AudioState()
    private var faults = FoundFaults()
    private var news: [ContractNews] = []
    private var firstArrival: MonotonicTime?
    private var lastCheck = MonotonicTime.zero
    private var nextCheck = MonotonicTime.zero

    /// Deadlines are looked at this often while media flows.
    private static let checkInterval = Duration.milliseconds(250)
    /// WHIP: browsers begin small; below the minimum is a fault only when it lasted this long from the start.
    private static let rampUpTime = Duration.seconds(30)
    static let audioSampleRates: Set<Int> = [44_100, 48_000]
    static let maximumAudioChannelCount = 2

    /// - Parameter product: flashVer or User-Agent: it decides the names of settings in sentences.
    public init(rules: ContractSettings, ingest: Ingest, product: String) {
        (self.rules, self.ingest) = (rules, ingest)
        mustKeepKeyframeInterval = ingest == .rtmp
        family = EncoderFamily(product: product)
        video = VideoState(bitrateLimit: rules.videoBitrate.limit)
    }

    /// Applies new limits at once; what the old ones found is forgotten, what is still so will be found again.
    public mutating func apply(_ rules: ContractSettings) {
        guard rules != self.rules else { return }
        self.rules = rules
        faults.forget()
        video.limitsChanged(bitrateLimit: rules.videoBitrate.limit)
        if let configuration = audio.configuration { judge(configuration, at: nextCheck) }
    }

    /// WHIP: requests for keyframes are not offered, or not heeded. What follows is judged as RTMP's.
    public mutating func keyframesCannotBeRequested() { mustKeepKeyframeInterval = true }

    /// What has come up since the last call, in order.
    public mutating func takeNews() -> [ContractNews] {
        defer { (news, hasNews) = ([], false) }
        return news
    }

    /// Time passed without media: missing tracks and the longest duration show even then. Call it about once a second.
    public mutating func timePassed(to now: MonotonicTime) {
        (lastCheck, nextCheck) = (now, now + Self.checkInterval)
        video.bucket.measure()
        guard !isOver, let start = firstArrival else { return }
        let elapsed = now - start
        if ingest == .rtmp, elapsed >= rules.tracks.limit { judgeTracks(at: now) }
        if elapsed >= rules.publishDuration.limit { found(.duration(seconds: Int(elapsed.inSeconds)), at: now) }
        if let size = video.tooSmallSinceStart(for: Self.rampUpTime, at: now), ingest == .whip {
            found(.resolutionBelow(width: size.width, height: size.height), at: now, isFinal: true)
        }
        if let deadline = faults.deadline, now >= deadline { conclude(at: now) }
    }

    private mutating func judgeTracks(at now: MonotonicTime) {
        faults.judgedAnew([.tracks])
        if !video.isPresent { found(.missingVideo, at: now) }
        if !audio.isPresent { found(.missingAudio, at: now) }
    }
}

// MARK: - Findings

extension ContractMonitor {
    /// Media arrived; looks at the deadlines now and then.
    private mutating func mediaCame(at now: MonotonicTime) {
        if firstArrival == nil { firstArrival = now }
        if now >= nextCheck { timePassed(to: now) }
    }

    /// A rule is broken.
    /// - Parameter isFinal: nothing more is worth waiting for.
    private mutating func found(
        _ fault: ContractFault, at now: MonotonicTime, isFinal: Bool = false, action: ContractAction? = nil
    ) {
        let action = action ?? rules[fault.rule]
        guard !isOver, action != .off else { return }
        let isWorthWarning = faults.note(fault, action: action, at: now)
        switch action {
        case .warn: if isWorthWarning { warn(fault) }
        case .disconnect:
            if fault.waitsForMore, !isFinal {
                faults.wait(from: video.cadence.pictureTime, at: now)
            } else {
                conclude(at: now)
            }
        case .off: break
        }
    }

    /// A picture begins: faults that waited for the rest of their group of pictures are told when it has passed.
    private mutating func pictureBegan(at mediaTime: Int64, isIDR: Bool, now: MonotonicTime) {
        guard faults.deadline != nil else { return }
        guard let since = faults.waitingSince, let deadline = faults.mediaDeadline else {
            // They were found before the first picture: wait for its group.
            return faults.restartWaiting(from: mediaTime)
        }
        if mediaTime >= deadline || mediaTime < since || (isIDR && mediaTime > since) { conclude(at: now) }
    }

    private mutating func warn(_ fault: ContractFault) {
        let count = faults.takeCount(of: fault)
        add(.warning(ContractWarning(fault: fault, sentence: sentence([fault]), count: count)))
    }

    private mutating func conclude(at now: MonotonicTime) {
        if let fault = keyframeFaultFromSettings { _ = faults.note(fault, action: .warn, at: now) }
        let listed = faults.listed(at: now)
        guard !isOver, let first = listed.first else { return }
        isOver = true
        add(.disconnect(Refusal(first.code, sentence: sentence(listed)), faults: listed))
    }

    private func sentence(_ faults: [ContractFault]) -> String {
        ContractSentence(faults, rules: rules, family: family, isX264: video.settings != nil).text
    }

    private mutating func add(_ item: ContractNews) {
        news.append(item)
        hasNews = true
    }
}

// MARK: - Video

extension ContractMonitor {
    /// The codec that signalling names, when it is not H.264: refused by name, at once.
    public mutating func videoCodecAnnounced(_ name: String, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        video.isPresent = true
        found(.videoCodec(name: name), at: moment.arrival)
    }

    /// A parameter set from signalling (AVC sequence header, sprop-parameter-sets). Judged when a picture uses it.
    public mutating func parameterSet(_ nalUnit: RawSpan, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard nalUnit.byteCount > 0 else { return }
        let type = unsafe NALUnitHeader(nalUnit.unsafeLoad(as: UInt8.self)).type
        if type == .sequenceParameterSet || type == .pictureParameterSet { video.parameterSets.add(nalUnit, type: type) }
    }

    /// One access unit that came whole (RTMP): what the walk over it found.
    public mutating func accessUnit(_ found: NALUnitList, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard !isOver else { return }
        video.order.accessUnitBegan()
        unsafe judge(found.units, at: moment)
    }

    /// One RTP payload of the forwarded layer, after SRTP, duplicates and retransmissions left out: what the walk over it found.
    /// - Parameter sequenceNumber: extended.
    public mutating func rtpPayload(_ found: NALUnitList, sequenceNumber: Int64, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard !isOver, !found.isUnreadable else { return }
        if !video.order.packetCame(sequenceNumber) { video.fragments.interrupt() }
        if let fragment = found.fragment {
            self.fragment(fragment, at: moment)
        } else {
            unsafe judge(found.units, at: moment)
        }
    }

    private mutating func judge(_ units: [UnsafeRawBufferPointer], at moment: MediaMoment) {
        var byteCount = 0
        for index in unsafe units.indices {
            let unit = unsafe units[index]
            byteCount += unit.count
            unsafe nalUnit(unit, NALUnitHeader(unit[0]), at: moment)
        }
        countBits(byteCount, at: moment)
    }

    private mutating func fragment(_ fragment: FUAFragment, at moment: MediaMoment) {
        let type = fragment.header.type
        if type.hasSliceHeader {
            sliceFragment(fragment, at: moment)
        } else if type == .sei || type == .sequenceParameterSet || type == .pictureParameterSet {
            if video.fragments.add(fragment) {
                unsafe video.fragments.bytes.withUnsafeBytes { unsafe nalUnit($0, fragment.header, at: moment) }
            }
        }
        unsafe countBits(type == .filler ? 0 : fragment.body.count + (fragment.isStart ? 1 : 0), at: moment)
    }

    /// The start fragment has the slice header, unless somebody cuts into it: then the next ones are put behind it.
    private mutating func sliceFragment(_ fragment: FUAFragment, at moment: MediaMoment) {
        if fragment.isStart, let slice = try? unsafe SliceHeader(header: fragment.header, payload: fragment.body.bytes) {
            return self.slice(slice, at: moment)
        }
        guard fragment.isStart || video.fragments.isOpen else { return }
        _ = video.fragments.add(fragment)
        guard let slice = try? unsafe SliceHeader(parsing: video.fragments.bytes.span.bytes) else { return }
        video.fragments.interrupt()
        self.slice(slice, at: moment)
    }

    private mutating func nalUnit(_ unit: UnsafeRawBufferPointer, _ header: NALUnitHeader, at moment: MediaMoment) {
        switch header.type {
        case .nonIDRSlice, .idrSlice, .partitionA:
            if let slice = try? unsafe SliceHeader(parsing: unit.bytes) { self.slice(slice, at: moment) }
        case .sequenceParameterSet, .pictureParameterSet: unsafe video.parameterSets.add(unit.bytes, type: header.type)
        case .sei:
            if let report = unsafe BroadcastPerformance(inSEI: unit.bytes) {
                encoder.add(report)
            } else if video.settings == nil, let settings = unsafe EncoderSettings(inSEI: unit.bytes) {
                video.settings = settings
            }
        default: break
        }
    }

    private mutating func countBits(_ byteCount: Int, at moment: MediaMoment) {
        if byteCount > 0, video.bucket.add(byteCount: byteCount, moment) {
            found(.videoBitrate(bitsPerSecond: video.bucket.measuredRate), at: moment.arrival)
        }
    }
}

// MARK: - Pictures

extension ContractMonitor {
    /// One slice header, wherever it stood.
    private mutating func slice(_ slice: SliceHeader, at moment: MediaMoment) {
        let place = video.order.place(at: moment.mediaTime)
        if place == .newPicture {
            pictureBegan(at: moment.mediaTime, isIDR: slice.isIDR, now: moment.arrival)
            if video.cadence.pictureBegan(at: moment.mediaTime, isIDR: slice.isIDR) { judgeCadence(at: moment.arrival) }
        }
        if let (sequence, picture) = video.setsToJudge(for: slice) { judge(sequence, picture, at: moment.arrival) }
        if slice.type == .b { found(.bFrames(count: declaredBFrames), at: moment.arrival) }
        if place != .earlierPicture, video.order.isOutOfOrder(slice, at: moment.mediaTime, place), !video.allowsAnyOrder {
            found(.arbitrarySliceOrder, at: moment.arrival)
        }
    }

    private var declaredBFrames: Int? {
        guard let count = video.settings?.bFrames, count > 0 else { return nil }
        return count
    }

    private mutating func judge(_ sequence: SequenceParameterSet, _ picture: PictureParameterSet, at now: MonotonicTime) {
        faults.judgedAnew([.videoCodec, .videoProfile, .maximumResolution, .minimumResolution])
        if !isAdmitted(sequence) { found(.profile(idc: sequence.profileIDC), at: now) }
        if !sequence.frameMbsOnly { found(.interlaced, at: now) }
        if picture.sliceGroupCount > 1 { found(.sliceGroups, at: now) }
        if picture.redundantPicCntPresent { found(.redundantPictures, at: now) }
        judgeSize(sequence.width, sequence.height, at: now)
        if let fault = keyframeFaultFromSettings { found(fault, at: now) }
    }

    private func isAdmitted(_ sequence: SequenceParameterSet) -> Bool {
        switch sequence.profileIDC {
        case SequenceParameterSet.baseline: sequence.isConstrainedBaseline || rules.profile.limit.contains(.baseline)
        case SequenceParameterSet.main: rules.profile.limit.contains(.main)
        case SequenceParameterSet.high: rules.profile.limit.contains(.high)
        default: false
        }
    }

    private mutating func judgeSize(_ width: Int, _ height: Int, at now: MonotonicTime) {
        if width * height > rules.maximumResolution.limit { found(.resolutionAbove(width: width, height: height), at: now) }
        let isLargeEnough = min(width, height) >= rules.minimumResolution.limit
        video.sizeSeen(isLargeEnough: isLargeEnough, at: now)
        guard !isLargeEnough else { return }
        // Browsers begin small and grow: on WHIP time decides, in `timePassed`.
        let isLasting = ingest == .rtmp
        let action = isLasting || rules.minimumResolution.action == .off ? rules.minimumResolution.action : .warn
        found(.resolutionBelow(width: width, height: height), at: now, action: action)
    }

    private mutating func judgeCadence(at now: MonotonicTime) {
        if let rate = video.cadence.frameRate,
            rate < Double(rules.frameRate.minimum) * Self.frameRateTolerance.lowerBound
                || rate > Double(rules.frameRate.maximum) * Self.frameRateTolerance.upperBound
        {
            found(.frameRate(framesPerSecond: rate), at: now)
        }
        guard mustKeepKeyframeInterval else { return }
        if let seconds = video.cadence.keyframeInterval, isTooLong(seconds) {
            found(.keyframeInterval(seconds: seconds), at: now)
        } else if let fault = keyframeFaultFromSettings {
            found(fault, at: now)
        }
    }

    /// What x264 says of its own keyframe interval, once the frame rate is known.
    private var keyframeFaultFromSettings: ContractFault? {
        guard mustKeepKeyframeInterval, rules.keyframeInterval.action != .off, let frames = video.settings?.keyframeInterval,
            video.cadence.keyframeInterval == nil, let rate = video.frameRate, rate > 0, rate.isFinite
        else { return nil }
        let seconds = Double(frames) / rate
        return isTooLong(seconds) ? .keyframeInterval(seconds: seconds) : nil
    }

    private func isTooLong(_ seconds: Double) -> Bool { seconds > rules.keyframeInterval.limit.inSeconds * 1.1 }

    /// Rates are measured over three seconds: a picture more or less is no fault.
    private static var frameRateTolerance: ClosedRange<Double> { 0.95...1.05 }
}

// MARK: - Audio

extension ContractMonitor {
    /// The codec that signalling names, when it is neither AAC nor Opus.
    public mutating func audioCodecAnnounced(_ name: String, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        audio.isPresent = true
        found(.audioCodec(name: name), at: moment.arrival)
    }

    /// The AAC sequence header.
    public mutating func audioConfiguration(_ configuration: AudioSpecificConfig, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard configuration != audio.configuration else { return }
        audio.configuration = configuration
        judge(configuration, at: moment.arrival)
    }

    /// The decoder found another rate than the sequence header says: SBR inside what claims to be AAC-LC.
    public mutating func hiddenReplicationFound(at moment: MediaMoment) {
        found(.audioCodec(name: "HE-AAC"), at: moment.arrival, isFinal: true)
    }

    /// The sequence start of Opus by Enhanced RTMP.
    public mutating func opusConfiguration(channelCount: Int, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard channelCount > Self.maximumAudioChannelCount else { return }
        found(.audioFormat(sampleRate: 48_000, channelCount: channelCount), at: moment.arrival)
    }

    /// One AAC frame or Opus packet.
    public mutating func audioFrame(byteCount: Int, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        audio.isPresent = true
        guard !isOver, audio.meter.add(byteCount: byteCount, at: moment.mediaTime) else { return }
        if Double(audio.meter.bitsPerSecond) > Double(rules.audioBitrate.limit) * AudioMeter.tolerance {
            found(.audioBitrate(bitsPerSecond: audio.meter.bitsPerSecond), at: moment.arrival)
        }
    }

    private mutating func judge(_ configuration: AudioSpecificConfig, at now: MonotonicTime) {
        faults.judgedAnew([.audioCodec, .audioFormat])
        if !configuration.isLowComplexity { found(.audioCodec(name: Self.name(of: configuration)), at: now) }
        let channelCount = configuration.channelCount
        let isAdmitted =
            Self.audioSampleRates.contains(configuration.sampleRate)
            && channelCount.map { $0 <= Self.maximumAudioChannelCount } ?? true
        if configuration.isLowComplexity, !isAdmitted {
            found(.audioFormat(sampleRate: configuration.sampleRate, channelCount: channelCount ?? 0), at: now)
        }
    }

    static func name(of configuration: AudioSpecificConfig) -> String {
        if configuration.isLowComplexity { return "AAC-LC" }
        if configuration.hasParametricStereo { return "HE-AAC v2" }
        if configuration.hasSpectralBandReplication { return "HE-AAC" }
        switch configuration.objectType {
        case .main: return "AAC Main"
        case .lowDelay: return "AAC-LD"
        case .enhancedLowDelay: return "AAC-ELD"
        case .unifiedSpeechAndAudio: return "xHE-AAC"
        default: return "AAC of object type \(configuration.objectType.rawValue)"
        }
    }
}

// MARK: - Standing

extension ContractMonitor {
    /// What has been seen by the last look at the time.
    var sightings: ContractSightings {
        ContractSightings(
            rules: rules, family: family, isX264: video.settings != nil, judgesTracks: ingest == .rtmp,
            judgesKeyframes: mustKeepKeyframeInterval,
            faults: faults.present(at: lastCheck), sequence: video.active, videoBitsPerSecond: video.bucket.latestRate,
            frameRate: video.cadence.frameRate ?? video.frameRate, keyframeInterval: video.cadence.keyframeInterval,
            hasAudio: audio.isPresent, audio: audio.configuration,
            audioBitsPerSecond: audio.meter.bitsPerSecond > 0 ? audio.meter.bitsPerSecond : nil,
            elapsed: firstArrival.map { lastCheck - $0 } ?? .zero, encoder: encoder)
    }
}

/// What the monitor has to tell its session.
public enum ContractNews: Equatable, Sendable {
    /// End the publish with this refusal. Nothing follows it.
    case disconnect(Refusal, faults: [ContractFault])
    /// Tell and count; at most one a minute for each rule.
    case warning(ContractWarning)
}

/// A fault of a rule whose action is `warn`.
public struct ContractWarning: Equatable, Sendable {
    public var fault: ContractFault
    /// The sentence for the session's story, the console and the event.
    public var sentence: String
    /// How often it was found since the last warning about it.
    public var count: Int
}

/// When a piece of media belongs, and when it came.
@frozen
public struct MediaMoment: Sendable, BitwiseCopyable {
    /// Unwrapped ticks of the track's RTP clock: 90,000 a second for video, 48,000 for audio.
    public var mediaTime: Int64
    public var arrival: MonotonicTime

    @inlinable
    public init(mediaTime: Int64, arrival: MonotonicTime) { (self.mediaTime, self.arrival) = (mediaTime, arrival) }
}
