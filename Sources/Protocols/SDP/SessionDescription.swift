/// A session description (RFC 8866): the session-level part and one `MediaDescription` per m-line.
///
/// `i=`, `u=`, `e=`, `p=`, `r=`, `z=` and `k=` are read over: nothing that negotiates uses them.
///
///     let offer = try SessionDescription(parsing: body)
///     for section in offer.media where section.media == "video" {
///         let formats = try section.attributes.strictly(RTPMap.self)
///     }
public struct SessionDescription: Equatable, Sendable {
    /// `o=`.
    public var origin: Origin
    /// `s=`.
    public var sessionName = "-"
    /// `c=` of the session, for sections without one of their own.
    public var connection: ConnectionData?
    /// `b=` of the session.
    public var bandwidths: [Bandwidth] = []
    /// The text after `t=`.
    public var timing = "0 0"
    /// `a=` of the session.
    public var attributes: [Attribute] = []
    /// In their order, which answers keep.
    public var media: [MediaDescription] = []

    /// A session without sections.
    public init(origin: Origin) { self.origin = origin }

    /// More than any encoder sends (a browser's offer is 7 KB); the WHIP endpoint takes no larger body either.
    public static let maximumByteCount = 65_536
    /// The longest line seen is a fmtp with parameter sets, below 500 bytes.
    public static let maximumLineLength = 4_096
    /// Bytes of a line that is not ASCII, a title or a label: to compare a character takes the square of its length.
    static let maximumUnicodeLineLength = 256
    /// A browser's offer has 200 lines.
    public static let maximumLineCount = 2_048
    /// Two are ever accepted; a few more still get an answer that says so.
    public static let maximumMediaCount = 32
}

/// `o=` (RFC 8866 §5.2).
public struct Origin: Equatable, Sendable {
    /// `-` for none.
    public var username: String
    /// Decimal digits; kept as text because encoders send more than 64 bits.
    public var sessionID: String
    /// Rises with each new description.
    public var sessionVersion: String
    /// `IP4` or `IP6`.
    public var addressType: String
    /// Of the host that made the session.
    public var address: String

    /// The defaults reveal nothing of the host.
    public init(
        username: String = "-", sessionID: String, sessionVersion: String = "0", addressType: String = "IP4",
        address: String = "127.0.0.1"
    ) {
        (self.username, self.sessionID, self.sessionVersion) = (username, sessionID, sessionVersion)
        (self.addressType, self.address) = (addressType, address)
    }

    init?(line: Substring) {
        let parts = words(line)
        guard parts.count == 6 else { return nil }
        self.init(
            username: String(parts[0]), sessionID: String(parts[1]), sessionVersion: String(parts[2]),
            addressType: String(parts[4]), address: String(parts[5]))
    }

    var line: String { "\(username) \(sessionID) \(sessionVersion) IN \(addressType) \(address)" }
}

/// `c=` (RFC 8866 §5.7); a TTL or address count stays part of `address`.
public struct ConnectionData: Equatable, Sendable {
    /// `IP4` or `IP6`.
    public var addressType: String
    /// Of where media is sent to; without meaning under ICE.
    public var address: String

    /// From its parts.
    public init(addressType: String = "IP4", address: String) { (self.addressType, self.address) = (addressType, address) }

    init?(line: Substring) {
        let parts = words(line)
        guard parts.count == 3, parts[0] == "IN" else { return nil }
        self.init(addressType: String(parts[1]), address: String(parts[2]))
    }

    var line: String { "IN \(addressType) \(address)" }
}

/// `b=` (RFC 8866 §5.8).
public struct Bandwidth: Equatable, Sendable {
    /// `AS`, `CT`, `TIAS` …
    public var type: String
    /// kbit/s for `AS` and `CT`, bit/s for `TIAS` (RFC 3890).
    public var value: Int

    /// From its parts.
    public init(_ type: String, _ value: Int) { (self.type, self.value) = (type, value) }

    init?(line: Substring) {
        guard let colon = line.firstIndex(of: ":"), let value = Int(line[line.index(after: colon)...]), value >= 0 else {
            return nil
        }
        self.init(String(line[..<colon]), value)
    }

    var line: String { "\(type):\(value)" }
}

extension SessionDescription {
    /// Parses a session description (RFC 8866 §5), tolerant of what encoders leave out but never of what they write wrong.
    /// - Parameter endings: `.crlf` refuses lines that end in LF alone.
    public init(parsing bytes: [UInt8], endings: LineEndings = .crlfOrLF) throws(SDPError) {
        var lines = try SDPLines(bytes, endings: endings).lines[...]
        guard let version = lines.popFirst() else { throw .malformedLine(line: 1) }
        guard version.type == "v" else { throw .malformedLine(line: version.number) }
        guard version.value == "0" else { throw .unsupportedVersion }
        guard let first = lines.popFirst(), first.type == "o" else { throw .missingOrigin }
        self.init(origin: try first.checked(Origin(line: first.value)))
        for line in lines {
            if line.type == "m" {
                let description = try line.checked(MediaDescription(line: line.value))
                guard media.count < Self.maximumMediaCount else { throw .tooManyMediaDescriptions }
                media.append(description)
            } else if media.isEmpty {
                try readSessionLine(line)
            } else {
                try media[media.count - 1].read(line)
            }
        }
    }

    private mutating func readSessionLine(_ line: SDPLines.Line) throws(SDPError) {
        switch line.type {
        case "s": sessionName = String(line.value)
        case "t": timing = String(line.value)
        case "c": connection = try line.checked(ConnectionData(line: line.value))
        case "b": bandwidths.append(try line.checked(Bandwidth(line: line.value)))
        case "a": attributes.append(try Attribute(line: line))
        case "i", "u", "e", "p", "r", "z", "k": break
        default: throw .malformedLine(line: line.number)
        }
    }
}

extension SessionDescription {
    /// The description as text, every line ended by CRLF (RFC 8866 §5), in the order its grammar demands.
    public var text: String {
        // By bytes, which are appended at a fifth of what strings cost.
        var text: [UInt8] = []
        text.reserveCapacity(2_048)
        text.appendLine("v", "0")
        text.appendLine("o", origin.line)
        text.appendLine("s", sessionName)
        if let connection { text.appendLine("c", connection.line) }
        for bandwidth in bandwidths { text.appendLine("b", bandwidth.line) }
        text.appendLine("t", timing)
        for attribute in attributes { text.appendLine("a", attribute.name, attribute.value) }
        for section in media { section.write(into: &text) }
        return String(decoding: text, as: UTF8.self)
    }
}

extension MediaDescription {
    fileprivate func write(into text: inout [UInt8]) {
        text.appendLine("m", line)
        if let connection { text.appendLine("c", connection.line) }
        for bandwidth in bandwidths { text.appendLine("b", bandwidth.line) }
        for attribute in attributes { text.appendLine("a", attribute.name, attribute.value) }
    }
}

extension [UInt8] {
    /// `<type>=<value>` or `<type>=<name>:<value>`.
    fileprivate mutating func appendLine(_ type: Unicode.Scalar, _ value: String, _ rest: String? = nil) {
        append(UInt8(ascii: type))
        append(UInt8(ascii: "="))
        append(contentsOf: value.utf8)
        if let rest {
            append(UInt8(ascii: ":"))
            append(contentsOf: rest.utf8)
        }
        append(contentsOf: "\r\n".utf8)
    }
}
