import Refusals
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
    /// RTMP's encoders cannot be asked for a keyframe: they must send one every few seconds. So must those of WHIP that do not
    /// heed requests.
    var mustKeepKeyframeInterval: Bool

    let family: EncoderFamily
    var video: VideoState
    var audio = AudioState()
    private var book = FaultBook()
    private var news: [ContractNews] = []
    private var firstArrival: MonotonicTime?
    private var nextCheck = MonotonicTime.zero

    /// Deadlines are looked at this often while media flows.
    static let checkInterval = Duration.milliseconds(250)
    /// WHIP: browsers begin small; below the minimum is a fault only when it lasted this long from the start.
    static let rampUpTime = Duration.seconds(30)
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
        book.forget()
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
        nextCheck = now + Self.checkInterval
        guard !isOver, let start = firstArrival else { return }
        let elapsed = now - start
        if ingest == .rtmp, elapsed >= rules.tracks.limit { judgeTracks(at: now) }
        if elapsed >= rules.publishDuration.limit { found(.duration(seconds: Int(elapsed.inSeconds)), at: now) }
        if let size = video.tooSmallSinceStart(for: Self.rampUpTime, at: now), ingest == .whip {
            found(.resolutionBelow(width: size.width, height: size.height), at: now, isFinal: true)
        }
        if let deadline = book.deadline, now >= deadline { conclude(at: now) }
    }

    private mutating func judgeTracks(at now: MonotonicTime) {
        if !video.isPresent { found(.missingVideo, at: now) }
        if !audio.isPresent { found(.missingAudio, at: now) }
    }
}

// MARK: - Findings

extension ContractMonitor {
    /// Media arrived; looks at the deadlines now and then.
    mutating func mediaCame(at now: MonotonicTime) {
        if firstArrival == nil { firstArrival = now }
        if now >= nextCheck { timePassed(to: now) }
    }

    /// A rule is broken.
    /// - Parameter isFinal: nothing more is worth waiting for.
    mutating func found(_ fault: ContractFault, at now: MonotonicTime, isFinal: Bool = false, action: ContractAction? = nil) {
        let action = action ?? rules[fault.rule]
        guard !isOver, action != .off else { return }
        let isWorthWarning = book.note(fault, action: action, at: now)
        switch action {
        case .warn: if isWorthWarning { warn(fault) }
        case .disconnect:
            if fault.waitsForMore, !isFinal {
                book.wait(from: video.cadence.pictureTime, at: now)
            } else {
                conclude(at: now)
            }
        case .off: break
        }
    }

    /// A picture begins: faults that waited for the rest of their group of pictures are told when it has passed.
    mutating func pictureBegan(at mediaTime: Int64, isIDR: Bool, now: MonotonicTime) {
        guard book.deadline != nil else { return }
        guard let since = book.waitingSince, let deadline = book.mediaDeadline else {
            // They were found before the first picture: wait for its group.
            return book.restartWaiting(from: mediaTime)
        }
        if mediaTime >= deadline || mediaTime < since || (isIDR && mediaTime > since) { conclude(at: now) }
    }

    private mutating func warn(_ fault: ContractFault) {
        let count = book.takeCount(of: fault)
        add(.warning(ContractWarning(fault: fault, sentence: sentence([fault]), count: count)))
    }

    private mutating func conclude(at now: MonotonicTime) {
        if let fault = keyframeFaultFromSettings { _ = book.note(fault, action: .warn, at: now) }
        let faults = book.faults(at: now)
        guard !isOver, let first = faults.first else { return }
        isOver = true
        add(.disconnect(Refusal(first.code, sentence: sentence(faults)), faults: faults))
    }

    private func sentence(_ faults: [ContractFault]) -> String {
        ContractSentence(faults, rules: rules, family: family, isX264: video.settings != nil).text
    }

    private mutating func add(_ item: ContractNews) {
        news.append(item)
        hasNews = true
    }
}
