/// `a=msid` (RFC 8830 §2): the MediaStream and track of a section.
public struct MediaStreamIdentifier: TypedAttribute, Equatable {
    public static let attributeName = "msid"
    /// `-` stands for no stream.
    public var stream: String
    public var track: String?

    public init(stream: String, track: String? = nil) { (self.stream, self.track) = (stream, track) }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue)
        guard (1...2).contains(parts.count) else { return nil }
        self.init(stream: String(parts[0]), track: parts.count == 2 ? String(parts[1]) : nil)
    }

    public var attributeValue: String { stream + (track.map { " " + $0 } ?? "") }
}
