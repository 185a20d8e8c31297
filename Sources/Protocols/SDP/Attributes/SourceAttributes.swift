/// `a=ssrc` (RFC 5576 §4.1): one attribute of one RTP source.
public struct Source: TypedAttribute, Equatable {
    public static let attributeName = "ssrc"
    /// The source.
    public var ssrc: UInt32
    /// `cname`, `msid`; nil when the line names the source only.
    public var name: String?
    /// nil for a name alone.
    public var value: String?

    /// From its parts.
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
    /// `FID`, `SIM` …
    public var semantics: String
    /// At most 16, in their order.
    public var ssrcs: [UInt32]

    /// From its parts.
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

/// `a=msid` (RFC 8830 §2): the MediaStream and track of a section.
public struct MediaStreamIdentifier: TypedAttribute, Equatable {
    public static let attributeName = "msid"
    /// `-` stands for no stream.
    public var stream: String
    /// nil where the line names the stream only.
    public var track: String?

    /// From its parts.
    public init(stream: String, track: String? = nil) { (self.stream, self.track) = (stream, track) }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue)
        guard (1...2).contains(parts.count) else { return nil }
        self.init(stream: String(parts[0]), track: parts.count == 2 ? String(parts[1]) : nil)
    }

    public var attributeValue: String { stream + (track.map { " " + $0 } ?? "") }
}

/// `a=group` (RFC 5888 §5): `BUNDLE` (RFC 9143), `LS`.
public struct MediaGroup: TypedAttribute, Equatable {
    public static let attributeName = "group"
    /// `BUNDLE`, `LS` …
    public var semantics: String
    /// Of the sections, the tagged one first.
    public var mids: [String]

    /// From its parts.
    public init(semantics: String, mids: [String]) { (self.semantics, self.mids) = (semantics, mids) }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue)
        guard let first = parts.first else { return nil }
        self.init(semantics: String(first), mids: parts.dropFirst().map(String.init))
    }

    public var attributeValue: String { ([semantics] + mids).joined(separator: " ") }
}
