/// `a=ssrc` (RFC 5576 §4.1): one attribute of one RTP source.
public struct Source: TypedAttribute, Equatable {
    public static let attributeName = "ssrc"
    public var ssrc: UInt32
    /// `cname`, `msid`; nil when the line names the source only.
    public var name: String?
    public var value: String?

    public init(ssrc: UInt32, name: String? = nil, value: String? = nil) {
        (self.ssrc, self.name, self.value) = (ssrc, name, value)
    }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue, maximum: 2)
        guard let first = parts.first, let ssrc = UInt32(first) else { return nil }
        self.ssrc = ssrc
        guard parts.count == 2 else { return }
        let pair = split(parts[1], at: ":", maximum: 2)
        name = String(pair[0])
        value = pair.count == 2 ? String(pair[1]) : nil
    }

    public var attributeValue: String {
        "\(ssrc)" + (name.map { " " + $0 } ?? "") + (value.map { ":" + $0 } ?? "")
    }
}

/// `a=ssrc-group` (RFC 5576 §4.2): `FID` ties a source to its retransmissions, `SIM` lists simulcast layers.
public struct SourceGroup: TypedAttribute, Equatable {
    public static let attributeName = "ssrc-group"
    public var semantics: String
    public var ssrcs: [UInt32]

    public init(semantics: String, ssrcs: [UInt32]) { (self.semantics, self.ssrcs) = (semantics, ssrcs) }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue)
        guard parts.count >= 2, parts.count <= 1 + Self.maximumSourceCount else { return nil }
        semantics = String(parts[0])
        ssrcs = []
        for part in parts[1...] {
            guard let ssrc = UInt32(part) else { return nil }
            ssrcs.append(ssrc)
        }
    }

    public var attributeValue: String { ([semantics] + ssrcs.map(String.init)).joined(separator: " ") }

    static let maximumSourceCount = 16
}
