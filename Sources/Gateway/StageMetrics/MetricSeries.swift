/// One metric of one thing, over time: the names, dimensions and units of CloudWatch's namespace `AWS/IVSRealTime`.
public struct MetricSeries: Hashable, Sendable, Comparable {
    public static let namespace = "AWS/IVSRealTime"

    public enum Metric: String, Sendable, CaseIterable {
        case concurrentPublishers = "ConcurrentPublishers"
        case concurrentSubscriptions = "ConcurrentSubscriptions"
        case downloadPacketLoss = "DownloadPacketLoss"
        case publishBitrate = "PublishBitrate"
        case publishFramerate = "PublishFramerate"
        case publishResolution = "PublishResolution"
        case publishers = "Publishers"
        case subscribeBitrate = "SubscribeBitrate"
        case subscribers = "Subscribers"
    }

    public enum Media: String, Sendable {
        case video, audio
    }

    public var metric: Metric
    /// Empty for what is of no single stage.
    public var stageID: String
    /// Who publishes or, of what was sent to viewers, who watches; empty for the stage's.
    public var participantID: String
    /// The name of a layer, `disabled` for a publisher's audio; empty where layers are not told apart.
    public var layer: String
    public var media: Media?

    public init(_ metric: Metric, stage: String = "", participant: String = "", layer: String = "", media: Media? = nil) {
        (self.metric, stageID, participantID, self.layer, self.media) = (metric, stage, participant, layer, media)
    }

    public static func < (left: MetricSeries, right: MetricSeries) -> Bool {
        if left.stageID != right.stageID { return left.stageID < right.stageID }
        if left.metric != right.metric { return left.metric.rawValue < right.metric.rawValue }
        return (left.participantID, left.layer, left.media?.rawValue ?? "")
            < (right.participantID, right.layer, right.media?.rawValue ?? "")
    }
}

extension MetricSeries {
    /// In CloudWatch's order, those that it has.
    public var dimensions: [(name: String, value: String)] {
        [("Stage", stageID), ("Participant", participantID), ("SimulcastLayer", layer), ("MediaType", media?.rawValue ?? "")]
            .filter { !$0.1.isEmpty }
    }
}

extension MetricSeries.Metric {
    /// As CloudWatch calls it.
    public var unit: String {
        switch self {
        case .downloadPacketLoss: "Percent"
        case .publishBitrate, .subscribeBitrate: "Bits/Second"
        case .publishFramerate: "Count/Second"
        case .concurrentPublishers, .concurrentSubscriptions, .publishers, .publishResolution, .subscribers: "Count"
        }
    }

    /// How many there are, which several nodes count each for itself: their values add up. Others are samples of one thing each.
    public var isCount: Bool {
        switch self {
        case .concurrentPublishers, .concurrentSubscriptions, .publishers, .subscribers: true
        case .downloadPacketLoss, .publishBitrate, .publishFramerate, .publishResolution, .subscribeBitrate: false
        }
    }
}

/// As one text: what a name in the database, in Redis and in a page's token is.
extension MetricSeries: Codable {
    public var path: String { [stageID, metric.rawValue, participantID, layer, media?.rawValue ?? ""].joined(separator: "/") }

    public init?(path: String) {
        let parts = path.split(separator: Character("/"), omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 5, let metric = Metric(rawValue: parts[1]) else { return nil }
        self.init(metric, stage: parts[0], participant: parts[2], layer: parts[3], media: Media(rawValue: parts[4]))
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let series = MetricSeries(path: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no series")
        }
        self = series
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(path)
    }
}
