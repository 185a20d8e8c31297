public import JSON
public import Wire

/// A participant of two encoders went on with another one.
public struct SourceSwitch: Sendable, Equatable {
    public var time: WallTime
    /// The encoder's number, 1 or 2; nil where there was none before.
    public var from: Int?
    public var to: Int
    /// A word from a fixed set: `stall`, `end`, `breach`, …
    public var reason: String
    /// From the last that was forwarded of one until all that was kept of the other was; nil where there was none before.
    public var gap: Duration?

    public init(time: WallTime, from: Int?, to: Int, reason: String, gap: Duration?) {
        (self.time, self.from, self.to, self.reason, self.gap) = (time, from, to, reason, gap)
    }

    public var json: JSONValue {
        var object: JSONObject = [
            "time": .string(CivilTime(time).rfc3339), "encoder": .integer(Int64(to)), "reason": .string(reason),
        ]
        if let from { object["from"] = .integer(Int64(from)) }
        if let gap { object["gapMilliseconds"] = .integer(gap.milliseconds) }
        return .object(object)
    }
}
