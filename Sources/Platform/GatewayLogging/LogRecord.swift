public import Wire

/// One event, as it waits for the writer.
struct LogRecord: Equatable, Sendable {
    var time: WallTime
    var level: LogLevel
    /// A word of ours in snake_case that names the change of state.
    var event: String
    var fields: LogFields

    init(time: WallTime, level: LogLevel, event: String, fields: LogFields) {
        (self.time, self.level, self.event, self.fields) = (time, level, event, fields)
    }
}

/// One value in an event. There is deliberately none that takes a `Secret`.
public enum LogValue: Equatable, Sendable {
    case string(String)
    /// Its text is made by whoever writes the line.
    case address(SocketAddress)
    case integer(Int)
    case number(Double)
    case bool(Bool)
    case strings([String])

    /// A duration in seconds, rounded to milliseconds.
    public static func seconds(_ duration: Duration) -> LogValue { .number(Double(duration.milliseconds) / 1000) }
    /// What an error says of itself.
    public static func error(_ error: any Error) -> LogValue { .string(String(describing: error)) }
}

extension LogValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// The fields of an event in their order. Names are snake_case words of ours; `time`, `level` and `event` are taken.
public struct LogFields: Equatable, Sendable, ExpressibleByDictionaryLiteral {
    /// One name with its value.
    public struct Field: Equatable, Sendable {
        /// A snake_case word of ours.
        public var name: String
        /// What is written for it, cut to 2,048 bytes.
        public var value: LogValue
    }

    /// In the order in which they are written.
    public private(set) var fields: [Field] = []

    /// No fields.
    public init() {}
    /// `["session": …, "codec": …]`, in that order.
    public init(dictionaryLiteral elements: (String, LogValue)...) {
        fields = elements.map { Field(name: $0, value: $1) }
    }

    /// Sets a field in place, or adds it; nil leaves it out.
    public subscript(name: String) -> LogValue? {
        get { fields.first { $0.name == name }?.value }
        set {
            let index = fields.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): fields[index].value = value
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append(Field(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// These fields followed by others; one that has the name of one of these takes its place.
    public func adding(_ others: LogFields) -> LogFields {
        var sum = self
        sum.fields.reserveCapacity(fields.count + others.fields.count)
        for field in others.fields { sum[field.name] = field.value }
        return sum
    }
}
