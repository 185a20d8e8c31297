import Admission
import StageHub
import StageMetrics
import Wire

/// What a viewer was sent in one second, by one of its sessions.
public struct ViewerSample: Sendable, Equatable {
    public var stageID: String
    /// Who watches.
    public var participantID: String
    public var videoBitsPerSecond: Int
    public var soundBitsPerSecond: Int
    /// Of what was sent; nil where nothing was.
    public var lossRatio: Double?

    public init(
        stageID: String, participantID: String, videoBitsPerSecond: Int, soundBitsPerSecond: Int, lossRatio: Double?
    ) {
        (self.stageID, self.participantID, self.lossRatio) = (stageID, participantID, lossRatio)
        (self.videoBitsPerSecond, self.soundBitsPerSecond) = (videoBitsPerSecond, soundBitsPerSecond)
    }
}

/// One second of publishers and viewers as samples of the series that CloudWatch knows by these names.
extension MetricCollector {
    mutating func add(_ sample: SessionSample, of record: SessionRecord) {
        let (stage, participant) = (record.lease.stageID, record.lease.participantID)
        add(Double(sample.bitsPerSecond), to: MetricSeries(.publishBitrate, stage: stage))
        for layer in sample.layers { add(layer, sample[layer], stage, participant) }
        add(
            Double(sample.audio.bitsPerSecond),
            to: MetricSeries(.publishBitrate, stage: stage, participant: participant, layer: Self.noLayer, media: .audio))
        guard record.ingestProtocol != .whip else { return }
        add(sample.framesPerSecond, to: MetricSeries(.publishFramerate, stage: stage, participant: participant))
    }

    /// By its name: when ranks change, what comes counts for whoever has the name now.
    private mutating func add(_ layer: VideoLayer, _ rates: SessionSample.Track, _ stage: String, _ participant: String) {
        func series(_ metric: MetricSeries.Metric) -> MetricSeries {
            MetricSeries(metric, stage: stage, participant: participant, layer: layer.name.rawValue, media: .video)
        }
        add(Double(rates.bitsPerSecond), to: series(.publishBitrate))
        add(rates.framesPerSecond, to: series(.publishFramerate))
        if layer.isActive { add(Double(min(layer.width, layer.height)), to: series(.publishResolution)) }
    }

    /// One sample of each stage that has publishers.
    mutating func countPublishers(_ live: [SessionRecord]) {
        let counts = live.reduce(into: [String: Int]()) { $0[$1.lease.stageID, default: 0] += 1 }
        for (stage, count) in counts { add(Double(count), to: MetricSeries(.publishers, stage: stage)) }
        if !live.isEmpty { add(Double(live.count), to: MetricSeries(.concurrentPublishers)) }
    }

    /// - Parameter publishing: who publishes; only their figures are told one by one.
    mutating func add(_ viewers: [ViewerSample], publishing: Set<ParticipantKey>) {
        if !viewers.isEmpty { add(Double(viewers.count), to: MetricSeries(.concurrentSubscriptions)) }
        for (stage, sessions) in Dictionary(grouping: viewers, by: \.stageID) {
            let subscribers = Dictionary(grouping: sessions, by: \.participantID)
            add(Double(subscribers.count), to: MetricSeries(.subscribers, stage: stage))
            for (participant, sessions) in subscribers {
                let isPublishing = publishing.contains(ParticipantKey(participant, onStage: stage))
                add(sessions, stage, isPublishing ? participant : nil)
            }
        }
    }

    /// What one viewer's sessions took together.
    private mutating func add(_ sessions: [ViewerSample], _ stage: String, _ participant: String?) {
        let video = Double(sessions.reduce(0) { $0 + $1.videoBitsPerSecond })
        let sound = Double(sessions.reduce(0) { $0 + $1.soundBitsPerSecond })
        let losses = sessions.compactMap(\.lossRatio).map { $0 * 100 }
        add(video + sound, to: MetricSeries(.subscribeBitrate, stage: stage))
        for loss in losses { add(loss, to: MetricSeries(.downloadPacketLoss, stage: stage)) }
        guard let participant else { return }
        add(video, to: MetricSeries(.subscribeBitrate, stage: stage, participant: participant, media: .video))
        add(sound, to: MetricSeries(.subscribeBitrate, stage: stage, participant: participant, media: .audio))
        for loss in losses { add(loss, to: MetricSeries(.downloadPacketLoss, stage: stage, participant: participant)) }
    }

    /// What CloudWatch calls the layer of a publisher's audio.
    private static let noLayer = "disabled"
}
