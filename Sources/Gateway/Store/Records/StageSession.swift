public import Wire

/// One run of a stage: from the first join until 3 minutes after the last publisher or viewer (`StageSession` of the API model).
public struct StageSession: Codable, Equatable, Sendable {
    public var stageARN: String
    /// `st-` and 13 letters or digits.
    public var sessionID: String
    public var startTime: WallTime
    /// Nil while the session is active.
    public var endTime: WallTime?

    public init(stageARN: String, sessionID: String, startTime: WallTime, endTime: WallTime? = nil) {
        (self.stageARN, self.sessionID) = (stageARN, sessionID)
        (self.startTime, self.endTime) = (startTime, endTime)
    }
}
