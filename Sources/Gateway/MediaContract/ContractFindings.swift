import H264
import Refusals
import Settings
import Wire

/// A fault, and the place of the layer that has it; nil for what is no single layer's.
struct ContractFinding: Equatable, Sendable {
    var fault: ContractFault
    var layer: UInt8?
}

/// What was found in one publish by all that look at it: when it is told, and in which words.
struct ContractFindings {
    let ingest: ContractMonitor.Ingest
    private(set) var rules: ContractSettings
    /// Whether `takeNews()` has any.
    private(set) var hasNews = false
    /// The publish must end: the rest of its media is not judged.
    private(set) var isOver = false
    /// RTMP's encoders cannot be asked for a keyframe: they must send one every few seconds. So must those of WHIP that do not
    /// heed requests.
    var mustKeepKeyframeInterval: Bool
    /// x264 told its settings.
    var isX264 = false
    var layers = PublishedLayers()
    var encoder = EncoderFigures()

    /// flashVer or User-Agent. What program that is, is found out for whoever needs words: most publishes need none.
    let product: String
    private var faults = FoundFaults()
    private var news: [ContractNews] = []
    private var firstPictureArrival: MonotonicTime?
    private var wasEverLargeEnough = false

    /// WHIP: browsers begin small; below the minimum is a fault only when it lasted this long from the start.
    private static let rampUpTime = Duration.seconds(30)

    init(rules: ContractSettings, ingest: ContractMonitor.Ingest, product: String) {
        (self.rules, self.ingest, self.product) = (rules, ingest, product)
        mustKeepKeyframeInterval = ingest == .rtmp
    }

    /// What the old rules found is forgotten; what is still so will be found again.
    mutating func apply(_ rules: ContractSettings) {
        self.rules = rules
        faults.forget()
    }

    mutating func takeNews() -> [ContractNews] {
        defer { (news, hasNews) = ([], false) }
        return news
    }

    /// A rule is broken.
    /// - Parameters:
    ///   - layer: whose fault it is, where it is one layer's.
    ///   - pictureTime: media time of that layer's picture.
    ///   - isFinal: nothing more is worth waiting for.
    ///   - isFollowed: another fault of the same look is told next: one sentence names both.
    mutating func found(
        _ fault: ContractFault, of layer: UInt8? = nil, in pictureTime: Int64? = nil, at now: MonotonicTime,
        isFinal: Bool = false, isFollowed: Bool = false, action: ContractAction? = nil
    ) {
        let action = action ?? rules[fault.rule]
        guard !isOver, action != .off else { return }
        let finding = ContractFinding(fault: fault, layer: layer)
        let isWorthWarning = faults.note(finding, action: action, at: now)
        if action == .warn {
            if isWorthWarning { warn(finding, at: now) }
        } else if !isFinal, fault.waitsForMore || fault.rule == .bFrames && layers.areSeveral {
            faults.wait(from: layer.flatMap { layer in pictureTime.map { (layer, $0) } }, at: now)
        } else if !isFollowed {
            conclude(at: now)
        }
    }

    /// What the encoder says of itself and no picture has shown yet: told with another fault, never alone.
    mutating func suspected(_ fault: ContractFault, of layer: UInt8, at now: MonotonicTime) {
        let action = rules[fault.rule]
        guard !isOver, action != .off else { return }
        faults.suspect(ContractFinding(fault: fault, layer: layer), action: action, at: now)
    }

    /// What these rules look at is judged anew: faults that are still there will be found again.
    /// - Parameter layer: nil for all of them.
    mutating func judgedAnew(_ rules: [ContractRule], of layer: UInt8? = nil) { faults.judgedAnew(rules, of: layer) }

    /// A picture begins: faults that waited for the rest of their group of pictures are told when it has passed.
    mutating func pictureBegan(of layer: UInt8, at mediaTime: Int64, isIDR: Bool, now: MonotonicTime) {
        guard faults.deadline != nil else { return }
        if faults.hasWaited(until: mediaTime, of: layer, isIDR: isIDR) { conclude(at: now) }
    }

    /// Too many pictures of a layer escape the rules about pictures: as grave as the gravest of those.
    mutating func foundUnjudged(_ layer: UInt8, at now: MonotonicTime) {
        let action: ContractAction = isPictureRule(.disconnect) ? .disconnect : isPictureRule(.warn) ? .warn : .off
        found(.unjudgedPictures, of: layer, at: now, action: action)
    }

    /// Whether one of the rules about pictures has this action.
    private func isPictureRule(_ action: ContractAction) -> Bool { Self.rulesOfPictures.contains { rules[$0] == action } }

    private static let rulesOfPictures: [ContractRule] = [.videoCodec, .videoProfile, .bFrames, .maximumResolution]

    mutating func timePassed(to now: MonotonicTime) {
        judgeRampUp(at: now)
        if let deadline = faults.deadline, now >= deadline { conclude(at: now) }
    }

    /// The faults that the stream has now, by precedence.
    func present(at now: MonotonicTime) -> [ContractFinding] { faults.present(at: now) }

    private mutating func warn(_ finding: ContractFinding, at now: MonotonicTime) {
        let count = faults.takeCount(of: finding)
        let sentence = sentence(faults.warned(alike: finding, at: now))
        add(.warning(ContractWarning(fault: finding.fault, sentence: sentence, count: count)))
    }

    private mutating func conclude(at now: MonotonicTime) {
        guard !isOver else { return }
        let verdict = faults.verdict(at: now)
        guard let first = verdict.first else { return faults.stopWaiting() }
        isOver = true
        add(.disconnect(Refusal(first.fault.code, sentence: sentence(verdict)), faults: verdict.map(\.fault)))
    }

    private func sentence(_ findings: [ContractFinding]) -> String {
        ContractSentence(findings, of: layers, rules: rules, family: EncoderFamily(product: product), isX264: isX264).text
    }

    private mutating func add(_ item: ContractNews) {
        news.append(item)
        hasNews = true
    }
}

// MARK: - Too little

/// What is too little is so of the largest layer: the others are for viewers who cannot take more.
extension ContractFindings {
    /// The pictures of a layer have another size than before, or are its first ones.
    mutating func sized(_ layer: UInt8, _ size: PictureSize, in pictureTime: Int64?, at now: MonotonicTime) {
        layers.sized(layer, size)
        judgedAnew([.minimumResolution])
        if firstPictureArrival == nil { firstPictureArrival = now }
        guard let top = layers.top, top.size.shortSide < rules.minimumResolution.limit else { return wasEverLargeEnough = true }
        // Browsers begin small and grow: on WHIP time decides, in `judgeRampUp`.
        let action = rules.minimumResolution.action
        found(
            .resolutionBelow(width: top.size.width, height: top.size.height), of: top.place,
            in: top.place == layer ? pictureTime : nil, at: now, action: ingest == .rtmp || action == .off ? action : .warn)
    }

    private mutating func judgeRampUp(at now: MonotonicTime) {
        guard ingest == .whip, !wasEverLargeEnough, let firstPictureArrival, now - firstPictureArrival >= Self.rampUpTime,
            let (place, size) = layers.top
        else { return }
        found(.resolutionBelow(width: size.width, height: size.height), of: place, at: now, isFinal: true)
    }

    mutating func judge(frameRate: Double, of layer: UInt8, at now: MonotonicTime) {
        let minimum = layers.top.map { $0.place == layer } ?? true ? Double(rules.frameRate.minimum) : 0
        let maximum = Double(rules.frameRate.maximum)
        if frameRate < minimum * Self.frameRateTolerance.lowerBound || frameRate > maximum * Self.frameRateTolerance.upperBound {
            found(.frameRate(framesPerSecond: frameRate), of: layer, at: now)
        }
    }

    /// Rates are measured over three seconds: a picture more or less is no fault.
    private static var frameRateTolerance: ClosedRange<Double> { 0.95...1.05 }
}
