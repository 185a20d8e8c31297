/// One m-line and what belongs to it (RFC 8866 §5.14).
public struct MediaDescription: Equatable, Sendable {
    /// `audio`, `video`, `application` …
    public var media: String
    /// 0 with `a=bundle-only` is a bundled section (RFC 9143 §6), 0 without it a rejected one.
    public var port: UInt16
    /// `UDP/TLS/RTP/SAVPF`, `RTP/AVPF` …
    public var transportProtocol: String
    /// Payload types of RTP, in order of preference.
    public var formats: [String]
    /// The section's own `c=`; else the session's holds.
    public var connection: ConnectionData?
    /// In their order.
    public var bandwidths: [Bandwidth] = []
    /// In their order.
    public var attributes: [Attribute] = []

    /// A section without attributes.
    public init(media: String, port: UInt16, transportProtocol: String, formats: [String]) {
        (self.media, self.port, self.transportProtocol, self.formats) = (media, port, transportProtocol, formats)
    }

    init?(line: Substring) {
        let parts = words(line)
        guard parts.count >= 4, parts.count <= 3 + Self.maximumFormatCount,
            let port = UInt16(parts[1].prefix { $0 != "/" })
        else { return nil }
        self.init(
            media: String(parts[0]), port: port, transportProtocol: String(parts[2]), formats: parts[3...].map(String.init))
    }

    var line: String { "\(media) \(port) \(transportProtocol) \(formats.joined(separator: " "))" }

    /// A browser offers at most 30; payload types end at 127.
    public static let maximumFormatCount = 128
}

extension MediaDescription {
    /// `a=mid` (RFC 5888 §4).
    public var mid: String? { attributes.value(of: "mid") }
    /// `a=bundle-only` (RFC 9143 §6).
    public var isBundleOnly: Bool { attributes.contains("bundle-only") }
    /// The direction; `sendrecv` when none is given (RFC 8866 §6.7).
    public var direction: MediaDirection {
        attributes.lazy.compactMap { $0.value == nil ? MediaDirection(rawValue: $0.name) : nil }.first ?? .sendrecv
    }

    /// Payload types in order of preference; formats that are no payload types are left out.
    public var payloadTypes: [UInt8] { formats.compactMap { UInt8($0) }.filter { $0 < 128 } }

    /// By payload type, of which the first `a=fmtp` holds. All of them are read at each call.
    public var formatParameters: [UInt8: FormatParameters] {
        Dictionary(attributes.all(FormatParameters.self).map { ($0.payloadType, $0) }) { first, _ in first }
    }

    /// The feedback of one payload type, lines for all types (`*`) included (RFC 4585 §4.2).
    public func feedback(of payloadType: UInt8) -> [String] {
        attributes.all(RTCPFeedback.self).filter { $0.payloadType == nil || $0.payloadType == payloadType }.map(\.feedback)
    }
}

extension MediaDescription {
    /// Takes a line that follows the m-line.
    mutating func read(_ line: SDPLines.Line) throws(SDPError) {
        switch line.type {
        case "c": connection = try line.checked(ConnectionData(line: line.value))
        case "b": bandwidths.append(try line.checked(Bandwidth(line: line.value)))
        case "a": attributes.append(try Attribute(line: line))
        case "i", "k": break
        default: throw .malformedLine(line: line.number)
        }
    }
}

/// RFC 8866 §6.7.
public enum MediaDirection: String, Sendable, CaseIterable {
    /// As seen by the writer of the description.
    case sendrecv, sendonly, recvonly, inactive
}

/// Who opens the DTLS connection (RFC 4145 §4, RFC 8842 §5.2).
public enum SetupRole: String, Sendable {
    /// `actpass` offers both; `holdconn` opens none.
    case actpass, active, passive, holdconn
}
