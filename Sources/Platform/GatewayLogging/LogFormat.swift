import JSON
import Wire

/// How events become lines.
public enum LogFormat: Sendable {
    /// One JSON object a line, for programs.
    case json
    /// `02:14:36.125 INFO  publish_started session=…`, for people at a terminal.
    case text

    /// Bytes of one text value; what peers send us may be longer than anybody wants to read.
    static let maximumValueLength = 2048

    /// The line of `record` with its line feed. Whatever the values hold, it stays one line and moves no cursor.
    func line(_ record: LogRecord) -> [UInt8] {
        var line: [UInt8] = []
        write(record, into: &line)
        return line
    }

    /// Appends the line of `record`.
    func write(_ record: LogRecord, into lines: inout [UInt8]) {
        switch self {
        case .json: Self.writeJSON(record, into: &lines)
        case .text: lines += Self.textLine(record)
        }
    }

    /// Field by field: an object made first would cost more than the line.
    private static func writeJSON(_ record: LogRecord, into lines: inout [UInt8]) {
        lines.append(contentsOf: #"{"time":""#.utf8)
        CivilTime(record.time).writeRFC3339(into: &lines)
        lines.append(contentsOf: #"","level":""#.utf8)
        lines.append(contentsOf: record.level.name.utf8)
        lines.append(contentsOf: #"","event":"#.utf8)
        JSONValue.write(record.event, into: &lines)
        for field in record.fields.fields {
            lines.append(UInt8(ascii: ","))
            JSONValue.write(field.name, into: &lines)
            lines.append(UInt8(ascii: ":"))
            json(field.value).write(into: &lines)
        }
        lines.append(contentsOf: "}\n".utf8)
    }

    private static func json(_ value: LogValue) -> JSONValue {
        switch value {
        case .string(let text): .string(clipped(text))
        case .address(let address): .string(address.description)
        case .integer(let number): .integer(Int64(number))
        case .number(let number): .number(number)
        case .bool(let flag): .bool(flag)
        case .strings(let texts): .array(texts.map { .string(clipped($0)) })
        }
    }

    private static func textLine(_ record: LogRecord) -> [UInt8] {
        let time = CivilTime(record.time).rfc3339.dropFirst(11).dropLast()
        let level = record.level.name.uppercased()
        var line = "\(time) \(level)\(String(repeating: " ", count: 7 - level.count)) \(record.event)"
        for field in record.fields.fields { line += " \(field.name)=\(text(field.value))" }
        return Array((line + "\n").utf8)
    }

    private static func text(_ value: LogValue) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .address(let address): quoted(address.description)
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .bool(let flag): String(flag)
        case .strings(let texts): "[\(texts.map(quoted).joined(separator: ","))]"
        }
    }

    /// Bare words stay bare; everything else is quoted with control characters, quotes and backslashes escaped.
    private static func quoted(_ text: String) -> String {
        let isBare =
            !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F && $0 != "\"" && $0 != "\\" }
        guard !isBare else { return clipped(text) }
        var quoted = "\""
        for scalar in clipped(text).unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case _ where isControl(scalar): quoted += "\\u{\(String(scalar.value, radix: 16))}"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Control and formatting characters: escape sequences, and marks that turn text around.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse: true
        default: false
        }
    }

    private static func clipped(_ text: String) -> String {
        guard text.utf8.count > maximumValueLength else { return text }
        return String(decoding: text.utf8.prefix(maximumValueLength), as: UTF8.self) + "…"
    }
}
