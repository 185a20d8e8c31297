public import JSON
public import Wire

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
            for (layer, name) in values.layerNames {
                let track = [who, ("SimulcastLayer", name), ("MediaType", "video")]
                add("PublishBitrate", "Bits/Second", track, values.video[layer])
                add("PublishResolution", "Count", track, values.resolution[layer])
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

extension StageHistory.Participant {
    /// `no-rid` for video without simulcast; else `hi`, `mid`, `low` by size, as IVS names layers.
    var layerNames: [(layer: Int, name: String)] {
        let active = video.indices.filter { !video[$0].isEmpty }
        guard active.count > 1 else { return active.map { ($0, "no-rid") } }
        let bySize = active.sorted { size($0) > size($1) }
        return zip(bySize, ["hi", "mid", "low"]).map { ($0, $1) }
    }

    private func size(_ layer: Int) -> Float { resolution[layer].datapoints.last?.maximum ?? 0 }
}
