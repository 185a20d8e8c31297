import Wire

/// What requests and answers consist of, whichever of the three protocols carries it.
enum CloudWatchValue: Equatable, Sendable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case bool(Bool)
    case time(WallTime)
    case list([CloudWatchValue])
    case structure([Member])

    struct Member: Equatable, Sendable {
        var name: String
        var value: CloudWatchValue

        init(_ name: String, _ value: CloudWatchValue) { (self.name, self.value) = (name, value) }
    }

    subscript(name: String) -> CloudWatchValue? {
        guard case .structure(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}

extension CloudWatchValue {
    /// Bytes of a text that is not ASCII, at most: labels are as long. To compare a character takes the square of its length, and
    /// what is asked for is looked at before it is known who asks.
    static let maximumUnicodeTextLength = 1_024

    /// Whether no name or text in it is longer.
    var isQuicklyCompared: Bool {
        switch self {
        case .text(let text): Self.isQuicklyCompared(text)
        case .list(let elements): elements.allSatisfy(\.isQuicklyCompared)
        case .structure(let members): members.allSatisfy { Self.isQuicklyCompared($0.name) && $0.value.isQuicklyCompared }
        case .integer, .number, .bool, .time: true
        }
    }

    private static func isQuicklyCompared(_ text: String) -> Bool {
        text.utf8.count <= maximumUnicodeTextLength || text.utf8.allSatisfy { $0 < 0x80 }
    }
}

extension CloudWatchValue: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral {
    init(dictionaryLiteral elements: (String, CloudWatchValue)...) { self = .structure(elements.map { Member($0.0, $0.1) }) }
    init(stringLiteral value: String) { self = .text(value) }
}

/// Typed views: a protocol that has texts only (`query`) is read as well as those that have types.
extension CloudWatchValue {
    func text(_ name: String) throws(CloudWatchError) -> String? {
        guard let value = self[name] else { return nil }
        guard case .text(let text) = value else { throw .wrongType(name) }
        return text.isEmpty ? nil : text
    }

    func requiredText(_ name: String) throws(CloudWatchError) -> String {
        guard let text = try text(name) else { throw .missing(name) }
        return text
    }

    func integer(_ name: String) throws(CloudWatchError) -> Int? {
        switch self[name] {
        case nil: return nil
        case .integer(let value)?: return Int(value)
        case .number(let value)?: if let whole = Int(exactly: value) { return whole }
        case .text(let text)?: if let whole = Int(text) { return whole }
        default: break
        }
        throw .wrongType(name)
    }

    func bool(_ name: String) throws(CloudWatchError) -> Bool? {
        switch self[name] {
        case nil: return nil
        case .bool(let value)?: return value
        case .text(let text)?: if let value = Bool(text) { return value }
        default: break
        }
        throw .wrongType(name)
    }

    /// A moment: as such, as seconds since 1970, or as ISO 8601 has it.
    func time(_ name: String) throws(CloudWatchError) -> WallTime {
        switch self[name] {
        case nil: throw .missing(name)
        case .time(let time)?: return time
        case .integer(let seconds)?: return WallTime(secondsSince1970: seconds)
        case .number(let seconds)?: if let time = WallTime(seconds: seconds) { return time }
        case .text(let text)?: if let time = WallTime(iso8601: text) { return time }
        default: break
        }
        throw .wrongType(name)
    }

    /// The elements of a list; none where there is no such member.
    func list(_ name: String, atMost count: Int) throws(CloudWatchError) -> [CloudWatchValue] {
        guard let value = self[name] else { return [] }
        // What `query` has for an empty list is an empty text.
        if case .text("") = value { return [] }
        guard case .list(let elements) = value else { throw .wrongType(name) }
        guard elements.count <= count else { throw .invalid("The parameter \(name) has more than \(count) entries.") }
        return elements
    }

    func texts(_ name: String, atMost count: Int) throws(CloudWatchError) -> [String] {
        var texts: [String] = []
        for element in try list(name, atMost: count) {
            guard case .text(let text) = element else { throw .wrongType(name) }
            texts.append(text)
        }
        return texts
    }
}

extension WallTime {
    /// Nil for what is no time that nanoseconds reach.
    init?(seconds: Double) {
        guard seconds.isFinite, abs(seconds) < 9e9 else { return nil }
        self.init(nanosecondsSince1970: Int64((seconds * 1_000).rounded()) * 1_000_000)
    }

    /// `2026-11-21T02:14:36Z`, with or without a fraction, `Z` or an offset (ISO 8601, RFC 3339 §5.6).
    init?(iso8601 text: String) {
        guard let end = text.firstIndex(where: { "Z+".contains($0) }) ?? Self.minus(in: text) else { return nil }
        let moment = text[..<end].split(separator: Character("."), maxSplits: 1)
        guard let whole = moment.first, let offset = Self.offset(text[end...]),
            let time = WallTime(iso8601Basic: whole.filter { $0 != "-" && $0 != ":" } + "Z")
        else { return nil }
        self = time + offset
    }

    /// The minus of an offset, which stands behind the time.
    private static func minus(in text: String) -> String.Index? {
        guard let day = text.firstIndex(of: "T") else { return nil }
        return text[day...].firstIndex(of: "-")
    }

    /// What is to be added to be in UTC.
    private static func offset(_ text: Substring) -> Duration? {
        if text == "Z" { return .zero }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard digits.count == 4, let number = Int(digits), let sign = text.first else { return nil }
        let seconds = (number / 100 * 60 + number % 100) * 60
        return .seconds(sign == "-" ? seconds : -seconds)
    }
}
