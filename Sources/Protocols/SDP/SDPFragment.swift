/// The body of a trickle or restart PATCH, `application/trickle-ice-sdpfrag` (RFC 8840 §9).
///
/// Tolerant of what clients send: no m-line at all, an m-line of another kind than the mid's, only `a=end-of-candidates`.
public struct SDPFragment: Equatable, Sendable {
    /// Of the ICE session that the candidates belong to, or of the new one.
    public var iceUfrag: String?
    /// Given by whoever restarts ICE.
    public var icePassword: String?
    /// The `a=mid` of the first pseudo m-line.
    public var mid: String?
    /// At most `maximumCandidateCount`; those that do not follow the grammar are left out (RFC 9725 §4.3.2: discarded silently).
    public var candidates: [Candidate] = []
    /// No more candidates will follow (RFC 8838 §8.2).
    public var isEndOfCandidates = false
    /// All of them, candidates included when parsed.
    public var attributes: [Attribute] = []

    /// An empty fragment, to be filled and written.
    public init() {}

    /// Parses a body.
    /// - Throws: `SDPError`; a line of a type that fragments do not have is `.malformedLine`.
    public init(parsing bytes: [UInt8], endings: LineEndings = .crlfOrLF) throws(SDPError) {
        let lines = try SDPLines(bytes, endings: endings).lines
        guard !lines.isEmpty else { throw .malformedLine(line: 1) }
        var mediaCount = 0
        for line in lines {
            switch line.type {
            case "m":
                mediaCount += 1
                guard mediaCount <= SessionDescription.maximumMediaCount else { throw .tooManyMediaDescriptions }
                _ = try line.checked(MediaDescription(line: line.value))
            case "a": attributes.append(try Attribute(line: line))
            case "c": _ = try line.checked(ConnectionData(line: line.value))
            default: throw .malformedLine(line: line.number)
            }
        }
        iceUfrag = attributes.value(of: "ice-ufrag")
        icePassword = attributes.value(of: "ice-pwd")
        mid = attributes.value(of: "mid")
        candidates = Array(attributes.all(Candidate.self).prefix(Self.maximumCandidateCount))
        isEndOfCandidates = attributes.contains("end-of-candidates")
    }

    /// The fragment as text: credentials, one pseudo m-line with its mid, candidates (RFC 8840 §9.2).
    public var text: String {
        var lines: [String] = []
        if let iceUfrag { lines.append("a=ice-ufrag:\(iceUfrag)") }
        if let icePassword { lines.append("a=ice-pwd:\(icePassword)") }
        lines += attributes.map(\.line)
        if let mid { lines += ["m=audio 9 RTP/AVP 0", "a=mid:\(mid)"] }
        lines += candidates.map { Attribute($0).line }
        if isEndOfCandidates { lines.append("a=end-of-candidates") }
        return lines.map { $0 + "\r\n" }.joined()
    }

    /// The media type of `text`.
    public static let contentType = "application/trickle-ice-sdpfrag"
    /// Encoders send fewer than 20.
    public static let maximumCandidateCount = 64
}
