import Wire

/// A request target (RFC 9112 §3.2) in origin, absolute or asterisk form, as it was sent: nothing decoded, nothing normalised.
public struct HTTPRequestTarget: Equatable, Sendable {
    /// Begins with `/`, or is `*`.
    public var path: String
    /// What follows the first `?`.
    public var query: String?
    /// Host and port of the absolute form; it stands in for the Host field.
    public var authority: String?

    /// Bytes of one segment or of a query's name or value that escapes put there beyond ASCII, at most: a tag's key of 128
    /// characters has no more. Who compares them does so by characters, which takes the square of their length.
    static let maximumUnicodeLength = 512

    /// Nil for anything else: CONNECT's form, a fragment, characters that are not visible ASCII, a malformed escape, or more
    /// escapes than `maximumUnicodeLength` allows.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }), PercentEncoding.isWellFormed(text),
            Self.isQuicklyCompared(text)
        else { return nil }
        if text == "*" {
            (path, query, authority) = ("*", nil, nil)
            return
        }
        var rest = Substring(text)
        if !rest.hasPrefix("/") {
            guard let scheme = ["http://", "https://"].first(where: { HTTPHeaders.areEqual(rest.prefix($0.utf8.count), $0) })
            else { return nil }
            rest = rest.dropFirst(scheme.utf8.count)
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            guard Self.isHost(rest[..<end]) else { return nil }
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        let mark = rest.firstIndex(of: "?") ?? rest.endIndex
        path = mark == rest.startIndex ? "/" : String(rest[..<mark])
        query = mark == rest.endIndex ? nil : String(rest[rest.index(after: mark)...])
    }

    private static func isQuicklyCompared(_ text: some StringProtocol) -> Bool {
        var (count, followsPercent) = (0, false)
        for byte in text.utf8 {
            if followsPercent, byte.hexadecimalValue ?? 0 >= 8 { count += 1 }
            if "/?&=".utf8.contains(byte) { count = 0 }
            guard count <= maximumUnicodeLength else { return false }
            followsPercent = byte == UInt8(ascii: "%")
        }
        return true
    }

    /// Whether `text` is a `uri-host [":" port]` (RFC 9110 §7.2) without user information.
    static func isHost(_ text: Substring) -> Bool {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        let host: Substring
        let port: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return false }
            host = text[text.index(after: text.startIndex)..<end]
            port = text[text.index(after: end)...]
            guard !host.isEmpty, host.utf8.allSatisfy({ $0.hexadecimalValue != nil || $0 == 0x3A || $0 == 0x2E }) else {
                return false
            }
        } else {
            host = text.prefix { $0 != ":" }
            port = text[host.endIndex...]
            guard !host.isEmpty, host.utf8.allSatisfy(\.isUnreserved) else { return false }
        }
        guard !port.isEmpty else { return true }
        return port.hasPrefix(":") && port.utf8.count <= 6 && port.utf8.dropFirst().allSatisfy(\.isDigit)
    }
}

/// The pairs of a query, decoded, in their order; `+` stands for a space and a malformed pair is left out.
public struct QueryItems: Equatable, Sendable {
    /// One pair.
    public struct Item: Equatable, Sendable {
        /// Decoded.
        public var name: String
        /// Decoded; empty when the pair has no equals sign.
        public var value: String
    }

    /// More pairs than any of our addresses takes.
    static let maximumCount = 100

    /// At most 100.
    public private(set) var items: [Item] = []

    /// - Parameter query: what follows `?`, as sent.
    public init(_ query: some StringProtocol) {
        for pair in query.split(separator: "&").prefix(Self.maximumCount) {
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            let value = equals == pair.endIndex ? pair[equals...] : pair[pair.index(after: equals)...]
            guard let name = PercentEncoding.decode(pair[..<equals], plusIsSpace: true),
                let value = PercentEncoding.decode(value, plusIsSpace: true)
            else { continue }
            items.append(Item(name: name, value: value))
        }
    }

    /// The value of the first pair called `name`.
    public subscript(name: String) -> String? { items.first { $0.name == name }?.value }
}
