import H264

/// Frames that an encoder program told of since its publish began (Broadcast Performance Metrics), and what they say: whether
/// its machine or its uplink loses them.
///
/// They are believed for what they are, the word of a stranger: nothing is decided by them.
public struct EncoderFigures: Equatable, Sendable {
    /// Composed by the program, and of those the ones composed too late.
    public internal(set) var rendered = 0
    public internal(set) var lagged = 0
    /// Given to the encoder of the counted layer, and of those the ones that it did not get to.
    public internal(set) var input = 0
    public internal(set) var skipped = 0
    public internal(set) var encoded = 0
    /// Handed to the connection, all tracks together, and of those the ones that it did not take.
    public internal(set) var output = 0
    public internal(set) var dropped = 0
    /// Reports of either kind that came, those left out too.
    public internal(set) var reportCount = 0

    /// The layer whose reports are counted: OBS tells what its whole program did in each layer's.
    private var source: UInt8?
    /// Which reports have come since the source's last one, a bit for each layer and kind.
    private var others: UInt8 = 0
    private var hasSession = false
    private var hasRendition = false

    /// A report covers the time between two keyframes: this is 27 minutes of 60 pictures a second.
    static let maximumFrames: UInt32 = 100_000

    public init() {}

    /// Counts a report: the first of each kind tells of the time before this publish, and one beyond all measure of nothing.
    /// - Parameter layer: the place of the one that it came in.
    mutating func add(_ report: BroadcastPerformance, of layer: UInt8 = 0) {
        reportCount += 1
        guard isSource(layer, of: report) else { return }
        switch report {
        case .session(let frames):
            defer { hasSession = true }
            let counts = (frames.rendered, frames.lagged, frames.dropped, frames.output)
            guard hasSession, max(counts.0, counts.1, counts.2, counts.3) <= Self.maximumFrames else { return }
            rendered += Int(frames.rendered)
            lagged += Int(frames.lagged)
            dropped += Int(frames.dropped)
            output += Int(frames.output)
        case .rendition(let frames):
            defer { hasRendition = true }
            guard hasRendition, max(frames.input, frames.skipped, frames.output) <= Self.maximumFrames else { return }
            input += Int(frames.input)
            skipped += Int(frames.skipped)
            encoded += Int(frames.output)
        }
    }

    /// The first layer that reports is the source, until another one has reported twice without it.
    private mutating func isSource(_ layer: UInt8, of report: BroadcastPerformance) -> Bool {
        let isSession = if case .session = report { true } else { false }
        let mark: UInt8 = 1 << (isSession ? layer : layer + 4)
        if source == nil || others & mark != 0 { source = layer }
        guard layer == source else {
            others |= mark
            return false
        }
        others = 0
        return true
    }

    /// What was told since an earlier moment of the same publish.
    public func since(_ earlier: EncoderFigures) -> EncoderFigures {
        var figures = self
        figures.rendered -= earlier.rendered
        figures.lagged -= earlier.lagged
        figures.input -= earlier.input
        figures.skipped -= earlier.skipped
        figures.encoded -= earlier.encoded
        figures.output -= earlier.output
        figures.dropped -= earlier.dropped
        figures.reportCount -= earlier.reportCount
        return figures
    }
}

extension EncoderFigures {
    /// Where frames are lost, on their way from the scene to the network.
    public enum Culprit: String, CaseIterable, Sendable { case rendering, encoding, uplink }

    /// A share of the frames that is lost at one place, of 1.
    public struct Loss: Equatable, Sendable {
        public var culprit: Culprit
        public var share: Double
    }

    /// What is worth saying: everywhere that loses a hundredth or more, the worst place first.
    public var losses: [Loss] {
        let losses = [
            Loss(culprit: .encoding, share: Self.share(skipped, of: input)),
            Loss(culprit: .uplink, share: Self.share(dropped, of: output)),
            Loss(culprit: .rendering, share: Self.share(lagged, of: rendered)),
        ]
        return losses.filter { $0.share >= Self.noteworthyShare }.sorted { $0.share > $1.share }
    }

    /// The same in words, with what to change; nil while too little has been told.
    public var verdict: String? {
        guard max(rendered, input, output) >= Self.sufficientFrames else { return nil }
        let losses = losses
        return losses.isEmpty ? "the encoder's machine and its uplink keep up" : losses.map(\.words).joined(separator: "; ")
    }

    private static func share(_ lost: Int, of all: Int) -> Double {
        all < sufficientFrames ? 0 : min(1, Double(lost) / Double(all))
    }

    private static let noteworthyShare = 0.01
    /// Three seconds of most streams.
    private static let sufficientFrames = 100
}

extension EncoderFigures.Loss {
    /// What is lost where, and the setting that mends it.
    public var words: String {
        let percent = "\(ContractFault.short(share * 100)) %"
        return switch culprit {
        case .rendering: "the encoder's machine rendered \(percent) of its frames too late: lower the game's or the scene's load"
        case .encoding: "the encoder's machine skipped \(percent) of its frames: use a faster preset"
        case .uplink: "the uplink dropped \(percent): lower the bitrate"
        }
    }
}
