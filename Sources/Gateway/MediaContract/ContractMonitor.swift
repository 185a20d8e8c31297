public import AAC
public import H264
public import Settings
public import Wire

/// The media contract for one publish, RTMP and WHIP alike: fed with what arrives, it answers findings (docs/design.md 8).
///
/// Layers of video go by their places, 0 where there is one; what has a place beyond `ByLayer` is not looked at. Each layer is
/// judged by itself, the bitrate of all of them together, and what is too little by the largest one.
/// Pure: no clock, no I/O; nothing is allocated for packets that break no rule. After every input ask `hasNews`.
public struct ContractMonitor {
    public enum Ingest: Sendable { case rtmp, whip }

    public var rules: ContractSettings { findings.rules }
    /// Whether `takeNews()` has any.
    public var hasNews: Bool { findings.hasNews }
    /// The publish must end: the rest of its media is not judged.
    public var isOver: Bool { findings.isOver }

    private var findings: ContractFindings
    private var video = ByLayer<VideoState> { VideoState(layer: UInt8($0)) }
    /// A codec that came and is not H.264.
    private var foreignVideo: String?
    /// By RTMP: frames came, whether anything can be read of them or not.
    private var hasVideoFrames = false
    private var hasUnreadableAudio = false
    private var bucket: BitrateBucket
    private var audio = AudioState()
    private var firstArrival: MonotonicTime?
    private var lastCheck = MonotonicTime.zero
    private var nextCheck = MonotonicTime.zero

    /// Deadlines are looked at this often while media flows.
    private static let checkInterval = Duration.milliseconds(250)

    /// - Parameter product: flashVer or User-Agent: it decides the names of settings in sentences.
    public init(rules: ContractSettings, ingest: Ingest, product: String) {
        findings = ContractFindings(rules: rules, ingest: ingest, product: product)
        bucket = BitrateBucket(limit: rules.videoBitrate.limit)
    }

    /// What layers are called, by place.
    public mutating func name(layers: [UInt8: String]) { findings.layers.names = layers }

    /// Applies new limits at once; what the old ones found is forgotten, what is still so will be found again.
    public mutating func apply(_ rules: ContractSettings) {
        guard rules != self.rules else { return }
        findings.apply(rules)
        bucket.limit = rules.videoBitrate.limit
        for layer in video.indices { video[layer].limitsChanged() }
        if let foreignVideo, findings.layers.isEmpty { findings.found(.videoCodec(name: foreignVideo), at: nextCheck) }
        audio.judgeAgain(at: nextCheck, &findings)
    }

    /// WHIP: requests for keyframes are not offered, or not heeded. What follows is judged as RTMP's.
    public mutating func keyframesCannotBeRequested() { findings.mustKeepKeyframeInterval = true }

    /// What has come up since the last call, in order.
    public mutating func takeNews() -> [ContractNews] { findings.takeNews() }

    /// Time passed without media: missing tracks and the longest duration show even then. Call it about once a second.
    public mutating func timePassed(to now: MonotonicTime) {
        (lastCheck, nextCheck) = (now, now + Self.checkInterval)
        bucket.measure()
        guard !isOver, let start = firstArrival else { return }
        let elapsed = now - start
        if findings.ingest == .rtmp, elapsed >= rules.tracks.limit { judgeTracks(at: now) }
        if elapsed >= rules.publishDuration.limit { findings.found(.duration(seconds: Int(elapsed.inSeconds)), at: now) }
        findings.timePassed(to: now)
    }

    /// Video came that says nothing of itself: the time in which tracks have to come runs from its first on.
    public mutating func unreadableVideoCame(at now: MonotonicTime) {
        hasVideoFrames = true
        mediaCame(at: now)
    }

    /// The same of audio.
    public mutating func unreadableAudioCame(at now: MonotonicTime) {
        hasUnreadableAudio = true
        mediaCame(at: now)
    }

    /// A layer that stops is no missing track, nor is one that never came beside others.
    private mutating func judgeTracks(at now: MonotonicTime) {
        findings.judgedAnew([.tracks])
        if findings.layers.isEmpty, foreignVideo == nil {
            findings.found(hasVideoFrames ? .undescribedVideo : .missingVideo, at: now, isFollowed: !audio.isPresent)
        }
        if !audio.isPresent { findings.found(hasUnreadableAudio ? .undescribedAudio : .missingAudio, at: now) }
    }

    /// Media arrived; looks at the deadlines now and then.
    private mutating func mediaCame(at now: MonotonicTime) {
        if firstArrival == nil { firstArrival = now }
        if now >= nextCheck { timePassed(to: now) }
    }
}

// MARK: - Video

extension ContractMonitor {
    /// The codec that signalling names, when it is not H.264: refused by name, at once.
    public mutating func videoCodecAnnounced(_ name: String, at now: MonotonicTime) {
        mediaCame(at: now)
        foreignVideo = name
        findings.found(.videoCodec(name: name), at: now)
    }

    /// A parameter set from signalling (AVC sequence header). Judged when a picture uses it.
    public mutating func parameterSet(_ nalUnit: RawSpan, layer: UInt8, at now: MonotonicTime) {
        mediaCame(at: now)
        if Int(layer) < video.count { video[Int(layer)].parameterSet(nalUnit) }
    }

    /// One access unit that came whole (RTMP): what the walk over it found.
    public mutating func accessUnit(_ found: NALUnitList, layer: UInt8 = 0, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard !isOver, Int(layer) < video.count else { return }
        hasVideoFrames = true
        let byteCount = video[Int(layer)].accessUnit(found, at: moment, &findings)
        count(byteCount, of: layer, at: moment)
    }

    /// One RTP payload, after SRTP, duplicates and retransmissions left out: what the walk over it found.
    /// - Parameter sequenceNumber: extended, of this layer.
    public mutating func rtpPayload(_ found: NALUnitList, layer: UInt8 = 0, sequenceNumber: Int64, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard !isOver, !found.isUnreadable, Int(layer) < video.count else { return }
        let byteCount = video[Int(layer)].rtpPayload(found, sequenceNumber: sequenceNumber, at: moment, &findings)
        count(byteCount, of: layer, at: moment)
    }

    private mutating func count(_ byteCount: Int, of layer: UInt8, at moment: MediaMoment) {
        if byteCount > 0, bucket.add(byteCount: byteCount, of: layer, moment) {
            findings.found(.videoBitrate(bitsPerSecond: bucket.measuredRate), at: moment.arrival)
        }
    }
}

// MARK: - Audio

extension ContractMonitor {
    /// The codec that signalling names, when it is neither AAC nor Opus.
    public mutating func audioCodecAnnounced(_ name: String, at now: MonotonicTime) {
        mediaCame(at: now)
        audio.announced(.audioCodec(name: name), at: now, &findings)
    }

    /// The AAC sequence header.
    public mutating func audioConfiguration(_ configuration: AudioSpecificConfig, at now: MonotonicTime) {
        mediaCame(at: now)
        audio.configured(configuration, at: now, &findings)
    }

    /// The decoder found another rate than the sequence header says: SBR inside what claims to be AAC-LC.
    public mutating func hiddenReplicationFound(at now: MonotonicTime) {
        audio.announced(.audioCodec(name: "HE-AAC"), at: now, isFinal: true, &findings)
    }

    /// The sequence start of Opus by Enhanced RTMP.
    public mutating func opusConfiguration(channelCount: Int, at now: MonotonicTime) {
        mediaCame(at: now)
        audio.opusConfigured(channelCount: channelCount, at: now, &findings)
    }

    /// One AAC frame or Opus packet.
    public mutating func audioFrame(byteCount: Int, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        audio.frame(byteCount: byteCount, at: moment, &findings)
    }
}

// MARK: - Standing

extension ContractMonitor {
    /// What has been seen by the last look at the time.
    var sightings: ContractSightings {
        ContractSightings(
            rules: rules, product: findings.product, isX264: findings.isX264, judgesTracks: findings.ingest == .rtmp,
            judgesKeyframes: findings.mustKeepKeyframeInterval, faults: findings.present(at: lastCheck),
            published: findings.layers,
            layers: findings.layers.places.compactMap { video[Int($0)].sighting }, videoBitsPerSecond: bucket.latestRate,
            hasAudio: audio.isPresent, audio: audio.configuration, audioBitsPerSecond: audio.bitsPerSecond,
            elapsed: firstArrival.map { lastCheck - $0 } ?? .zero, encoder: findings.encoder)
    }
}
