public import Admission
public import JSON
import Monitoring
import Wire

/// A participant of two encoders, as operators see it.
public struct RedundancyStatus: Sendable, Equatable {
    /// An encoder that is there.
    public struct Encoder: Sendable, Equatable {
        /// 1 or 2.
        public var number: Int
        public var participantID: String
        var health: SourceHealth.Level
        /// A switch to it need not wait for its next keyframe.
        var isReady: Bool
        /// Its pictures tell of a clock that the other one's may tell of as well.
        var clock: SourceClock.Told?

        var isAlive: Bool { health > .still }
    }

    public var participant: ParticipantKey
    public var stageARN: String
    var configurationARN: String
    /// Whether the stage sees it through this node.
    var isLive: Bool
    /// The number of the encoder whose media the stage gets; nil while there is none.
    public var source: Int?
    var lastSwitch: SourceSwitch?
    /// Neither a publish's first source counts, nor one that comes back.
    var switchCount: Int
    public var encoders: [Encoder]

    /// As `GET /v1/participants/{id}/source` answers.
    public var json: JSONObject {
        var object: JSONObject = [
            "participantId": .string(participant.participantID), "stageArn": .string(stageARN),
            "ingestConfigurationArn": .string(configurationARN), "state": .string(isLive ? "live" : "standby"),
            "source": source.map { .integer(Int64($0)) } ?? .null, "switches": .integer(Int64(switchCount)),
            "encoders": .array(encoders.map(json)),
        ]
        if let lastSwitch { object["lastSwitch"] = lastSwitch.json }
        return object
    }

    private func json(_ encoder: Encoder) -> JSONValue {
        [
            "encoder": .integer(Int64(encoder.number)), "participantId": .string(encoder.participantID),
            "state": .string(encoder.number == source ? "source" : "standby"), "health": .string(encoder.health.name),
            "ready": .bool(encoder.number == source || encoder.isReady),
            "clock": encoder.clock.map { .string($0.rawValue) } ?? .null,
        ]
    }
}

extension SourceHealth.Level {
    fileprivate var name: String {
        switch self {
        case .still: "still"
        case .poor: "poor"
        case .well: "well"
        }
    }
}
