/// One event of a `text/event-stream` (HTML Living Standard §9.2).
public struct ServerSentEvent: Equatable, Sendable {
    /// The event's name; clients take nil for `message`.
    public var event: String?
    /// What a client that reconnects sends as `Last-Event-ID`.
    public var id: String?
    /// Text of one line or several.
    public var data: String

    /// From its parts.
    public init(event: String? = nil, id: String? = nil, data: String) {
        (self.event, self.id, self.data) = (event, id, data)
    }

    /// The event's lines and the empty one that ends it. Line breaks in the data begin new data
    /// lines; in names they become spaces.
    public func serialized() -> [UInt8] {
        var text = ""
        if let event { text += "event: \(Self.oneLine(event))\n" }
        if let id { text += "id: \(Self.oneLine(id))\n" }
        for line in data.split(omittingEmptySubsequences: false, whereSeparator: Self.endsLine) { text += "data: \(line)\n" }
        return Array((text + "\n").utf8)
    }

    /// A line that clients ignore: it keeps proxies from closing a silent stream, and shows us a dead one.
    public static let keepAlive = Array(": keep-alive\n\n".utf8)

    /// For clients. Unicode has more line breaks: to them those are text, as in the strings of JSON, which would be cut in two.
    private static func endsLine(_ character: Character) -> Bool {
        character == "\n" || character == "\r" || character == "\r\n"
    }

    private static func oneLine(_ text: String) -> String { String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 }) }
}
