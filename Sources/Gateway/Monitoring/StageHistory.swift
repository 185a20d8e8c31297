import Admission
public import JSON
import StageHub
public import Wire

/// What stages and their publishers were like over the last three hours, in the terms of IVS's CloudWatch metrics.
///
/// Bounded in stages and participants; whoever was silent longest is forgotten first.
public struct StageHistory {
    static let maximumStages = 1_024
    static let maximumParticipants = 1_024

    /// One publisher's series.
    struct Participant {
        var stageID: String
        /// By name: when ranks change, what comes counts for whoever has the name now.
        var layers: [LayerName: Layer] = [:]
        var audio = MinuteSeries()
        /// RTMP publishers only.
        var frameRate = MinuteSeries()
        var lastMinute: Int32 = 0

        mutating func add(_ sample: SessionSample, hasFrameRate: Bool, at time: WallTime) {
            lastMinute = MinuteSeries.minute(of: time)
            for layer in sample.layers { layers[layer.name, default: Layer()].add(layer, sample[layer], at: time) }
            audio.add(Double(sample.audio.bitsPerSecond), at: time)
            if hasFrameRate { frameRate.add(sample.framesPerSecond, at: time) }
        }
    }

    struct Layer {
        var bitrate = MinuteSeries()
        /// The smaller of width and height, while it is not paused.
        var resolution = MinuteSeries()
        var frameRate = MinuteSeries()

        mutating func add(_ layer: VideoLayer, _ rates: SessionSample.Track, at time: WallTime) {
            bitrate.add(Double(rates.bitsPerSecond), at: time)
            frameRate.add(rates.framesPerSecond, at: time)
            if layer.isActive { resolution.add(Double(min(layer.width, layer.height)), at: time) }
        }
    }

    struct Stage {
        var bitrate = MinuteSeries()
        var publishers = MinuteSeries()
        var lastMinute: Int32 = 0
    }

    private(set) var stages: [String: Stage] = [:]
    /// By stage and participant.
    private var participants: [String: Participant] = [:]

    public init() {}

    func participants(ofStage id: String) -> [(id: String, series: Participant)] {
        participants.filter { $0.value.stageID == id }
            .map { (String($0.key.dropFirst(id.count + 1)), $0.value) }.sorted { $0.0 < $1.0 }
    }

    mutating func add(_ sample: SessionSample, of record: SessionRecord, at time: WallTime) {
        let stage = record.lease.stageID
        let key = "\(stage)/\(record.lease.participantID)"
        if participants[key] == nil {
            Self.makeRoom(in: &participants, Self.maximumParticipants, \.lastMinute)
            participants[key] = Participant(stageID: stage)
        }
        participants[key]?.add(sample, hasFrameRate: record.ingestProtocol != .whip, at: time)
        change(stage, at: time) { $0.bitrate.add(Double(sample.bitsPerSecond), at: time) }
    }

    /// One sample of each stage that has publishers.
    mutating func countPublishers(_ live: [SessionRecord], at time: WallTime) {
        let counts = live.reduce(into: [String: Int]()) { $0[$1.lease.stageID, default: 0] += 1 }
        for (stage, count) in counts { change(stage, at: time) { $0.publishers.add(Double(count), at: time) } }
    }

    private mutating func change(_ id: String, at time: WallTime, _ body: (inout Stage) -> Void) {
        if stages[id] == nil { Self.makeRoom(in: &stages, Self.maximumStages, \.lastMinute) }
        var stage = stages.removeValue(forKey: id) ?? Stage()
        stage.lastMinute = MinuteSeries.minute(of: time)
        body(&stage)
        stages[id] = stage
    }

    private static func makeRoom<Entry>(in table: inout [String: Entry], _ limit: Int, _ age: KeyPath<Entry, Int32>) {
        guard table.count >= limit, let oldest = table.min(by: { $0.value[keyPath: age] < $1.value[keyPath: age] }) else {
            return
        }
        table[oldest.key] = nil
    }
}

/// `GET /v1/stages/{id}/metrics`: names, dimensions and units are those of the CloudWatch namespace `AWS/IVSRealTime`.
extension StageHistory {
    public static let namespace = "AWS/IVSRealTime"

    /// What an asker wants of it.
    public struct Filter: Sendable {
        public var metricName: String?
        public var participantID: String?
        /// Datapoints that began earlier are left out.
        public var earliest: WallTime?

        public init() {}
    }

    public static let metricNames = ["PublishBitrate", "PublishFramerate", "PublishResolution", "Publishers"]

    /// The series of one stage; a stage without any has none.
    public func json(ofStage id: String, stageARN: String, _ filter: Filter = Filter()) -> JSONValue {
        var series: [JSONValue] = []
        func add(_ name: String, _ unit: String, _ dimensions: [(String, String)], _ values: MinuteSeries) {
            guard filter.metricName ?? name == name, !values.isEmpty else { return }
            series.append(Self.json(name, unit, [("Stage", id)] + dimensions, values, since: filter.earliest))
        }
        if filter.participantID == nil, let stage = stages[id] {
            add("PublishBitrate", "Bits/Second", [], stage.bitrate)
            add("Publishers", "Count", [], stage.publishers)
        }
        for (participant, values) in participants(ofStage: id) where filter.participantID ?? participant == participant {
            let who = ("Participant", participant)
            for name in LayerName.allCases {
                guard let layer = values.layers[name] else { continue }
                let track = [who, ("SimulcastLayer", name.rawValue), ("MediaType", "video")]
                add("PublishBitrate", "Bits/Second", track, layer.bitrate)
                add("PublishResolution", "Count", track, layer.resolution)
                add("PublishFramerate", "Count/Second", track, layer.frameRate)
            }
            add("PublishBitrate", "Bits/Second", [who, ("SimulcastLayer", "disabled"), ("MediaType", "audio")], values.audio)
            add("PublishFramerate", "Count/Second", [who], values.frameRate)
        }
        return [
            "namespace": .string(Self.namespace), "stageArn": .string(stageARN),
            "period": .integer(MinuteSeries.period.components.seconds), "metrics": .array(series),
        ]
    }

    private static func json(
        _ name: String, _ unit: String, _ dimensions: [(String, String)], _ values: MinuteSeries, since earliest: WallTime?
    ) -> JSONValue {
        let points = values.datapoints.filter { point in earliest.map { point.start >= $0 } ?? true }
        return [
            "metricName": .string(name), "unit": .string(unit),
            "dimensions": .array(dimensions.map { ["name": .string($0.0), "value": .string($0.1)] }),
            "datapoints": .array(
                points.map { point in
                    [
                        "timestamp": .string(CivilTime(point.start).rfc3339), "average": .number(point.average),
                        "minimum": .number(Double(point.minimum)), "maximum": .number(Double(point.maximum)),
                        "sampleCount": .integer(Int64(point.sampleCount)),
                    ]
                }),
        ]
    }
}
