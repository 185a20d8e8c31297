/// Scheme, host and port of a URL, for the same-origin rule of `Location`.
struct HTTPOrigin: Equatable {
    var scheme: String
    /// As written, in lower case.
    var host: String
    var port: UInt16

    /// Nil unless it is an absolute http or https URL.
    init?(_ url: String) {
        guard let separator = url.range(of: "://") else { return nil }
        scheme = url[..<separator.lowerBound].lowercased()
        guard let standard: UInt16 = ["http": 80, "https": 443][scheme] else { return nil }
        let authority = url[separator.upperBound...].prefix { !"/?#".contains($0) }
        guard !authority.isEmpty, !authority.contains("@"), !authority.contains("\\") else { return nil }
        let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
        let colon = authority[bracket...].lastIndex(of: ":")
        host = authority[..<(colon ?? authority.endIndex)].lowercased()
        guard let number = colon.map({ UInt16(authority[authority.index(after: $0)...]) }) ?? standard, !host.isEmpty
        else { return nil }
        port = number
    }

    /// A router's URL as paths are put behind it: without slashes at its end.
    static func base(of url: String) -> String {
        var base = url
        while base.hasSuffix("/") { base.removeLast() }
        return base
    }

    /// The absolute URL of a `Location` that was given for `url`; nil for another origin or a relative path.
    static func resolve(_ location: String, from url: String) -> String? {
        guard let origin = HTTPOrigin(url), location.utf8.count <= 2048 else { return nil }
        guard location.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        if location.hasPrefix("/"), !location.hasPrefix("//") {
            return "\(origin.scheme)://\(origin.host):\(origin.port)\(location)"
        }
        return HTTPOrigin(location) == origin ? location : nil
    }

    /// The URL at the router that has the path of a `Location` of another origin; nil for what is none of an origin at all.
    static func path(of location: String, at url: String) -> String? {
        guard HTTPOrigin(location) != nil, let separator = location.range(of: "://") else { return nil }
        let place = location[separator.upperBound...]
        return place.firstIndex(of: "/").flatMap { resolve(String(place[$0...]), from: url) }
    }
}

extension StringProtocol {
    /// The first place of `text`.
    fileprivate func range(of text: String) -> Range<Index>? {
        indices.lazy.first { self[$0...].hasPrefix(text) }.map { $0..<index($0, offsetBy: text.count) }
    }
}
