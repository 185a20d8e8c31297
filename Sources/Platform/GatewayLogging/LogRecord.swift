public import Wire

/// One event, as it waits for the writer.
public struct LogRecord: Equatable, Sendable {
    public var time: WallTime
    public var level: LogLevel
    /// A word of ours in snake_case that names the change of state.
    public var event: String
    public var fields: LogFields

    public init(time: WallTime, level: LogLevel, event: String, fields: LogFields) {
        (self.time, self.level, self.event, self.fields) = (time, level, event, fields)
    }
}
