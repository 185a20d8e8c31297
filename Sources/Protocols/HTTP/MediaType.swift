/// A media type with parameters, `application/sdp; charset=utf-8` (RFC 9110 §8.3.1). Names are kept in lower case.
public struct MediaType: Equatable, Sendable {
    /// `application`, or `*` in ranges.
    public var type: String
    /// `sdp`, or `*` in ranges.
    public var subtype: String
    /// By name; quotes around values are taken off.
    public var parameters: [String: String] = [:]

    /// Nil when `text` is no media type, or not ASCII.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmingWhiteSpace() }
        let names = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2, names[0].isToken, names[1].isToken else { return nil }
        (type, subtype) = (names[0].lowercased(), names[1].lowercased())
        for parameter in parts.dropFirst() where !parameter.isEmpty {
            guard let equals = parameter.firstIndex(of: "="), parameter[..<equals].isToken else { return nil }
            let value = parameter[parameter.index(after: equals)...]
            let isQuoted = value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
            guard isQuoted || value.isToken else { return nil }
            parameters[parameter[..<equals].lowercased()] = String(isQuoted ? value.dropFirst().dropLast() : value)
        }
    }

    /// Whether type and subtype are those of `essence`, `application/sdp`; parameters are not compared.
    public func matches(_ essence: String) -> Bool { HTTPHeaders.areEqual("\(type)/\(subtype)", essence) }
}

extension HTTPRequest {
    /// The Content-Type; nil when it is missing or malformed.
    public var contentType: MediaType? { headers["Content-Type"].flatMap { MediaType($0) } }

    /// Whether the client takes `essence`, `application/sdp` (RFC 9110 §12.5.1). No Accept field takes everything.
    public func accepts(_ essence: String) -> Bool {
        let ranges = headers.list(of: "Accept")
        guard !ranges.isEmpty, let wanted = MediaType(essence) else { return true }
        let matching = ranges.compactMap { MediaType($0) }.compactMap { range -> (rank: Int, isTaken: Bool)? in
            let quality = range.parameters["q"].flatMap { Double($0) } ?? 1
            if range.type == wanted.type, range.subtype == wanted.subtype { return (2, quality > 0) }
            if range.type == wanted.type, range.subtype == "*" { return (1, quality > 0) }
            return range.type == "*" && range.subtype == "*" ? (0, quality > 0) : nil
        }
        return matching.max { $0.rank < $1.rank }?.isTaken ?? false
    }
}
