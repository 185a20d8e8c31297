/// A participant's part in replications (`ReplicationType`, `ReplicationState` of the API model).
public struct ParticipantReplication: Codable, Equatable, Sendable {
    public enum Part: String, Codable, Sendable {
        case source = "SOURCE"
        case replica = "REPLICA"
    }

    public var part: Part
    public var isActive: Bool
    /// Empty for the source itself.
    public var sourceStageARN: String
    public var sourceSessionID: String

    public init(_ part: Part, isActive: Bool, sourceStageARN: String = "", sourceSessionID: String = "") {
        (self.part, self.isActive) = (part, isActive)
        (self.sourceStageARN, self.sourceSessionID) = (sourceStageARN, sourceSessionID)
    }

    /// As the API names it.
    public var stateName: String { isActive ? "ACTIVE" : "STOPPED" }
}
