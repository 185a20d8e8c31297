/// `a=rtpmap` (RFC 8866 §6.6): what a dynamic payload type means.
public struct RTPMap: TypedAttribute, Equatable {
    public static let attributeName = "rtpmap"
    /// 0 to 127.
    public var payloadType: UInt8
    /// As written; compare without case (`H264`, `opus` and `OPUS` are all seen).
    public var encodingName: String
    /// Ticks a second.
    public var clockRate: UInt32
    /// The part after the second slash: channels of audio.
    public var encodingParameters: String?

    /// From its parts.
    public init(payloadType: UInt8, encodingName: String, clockRate: UInt32, encodingParameters: String? = nil) {
        (self.payloadType, self.encodingName) = (payloadType, encodingName)
        (self.clockRate, self.encodingParameters) = (clockRate, encodingParameters)
    }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue, maximum: 2)
        guard parts.count == 2, let payloadType = UInt8(parts[0]), payloadType < 128 else { return nil }
        let encoding = split(parts[1], at: "/")
        guard (2...3).contains(encoding.count), !encoding[0].isEmpty, let clockRate = UInt32(encoding[1]) else { return nil }
        self.init(
            payloadType: payloadType, encodingName: String(encoding[0]), clockRate: clockRate,
            encodingParameters: encoding.count == 3 ? String(encoding[2]) : nil)
    }

    public var attributeValue: String {
        "\(payloadType) \(encodingName)/\(clockRate)" + (encodingParameters.map { "/" + $0 } ?? "")
    }

    /// Whether the format is this one, whatever the case of its name.
    public func isEncoding(_ name: String, clockRate: UInt32) -> Bool {
        self.clockRate == clockRate && encodingName.lowercased() == name.lowercased()
    }
}

/// `a=fmtp` (RFC 8866 §6.15), as the list of `name=value` that RTP payload formats write.
public struct FormatParameters: TypedAttribute, Equatable {
    public static let attributeName = "fmtp"
    /// One parameter, its value as written.
    public struct Parameter: Equatable, Sendable {
        /// As written; looked up whatever its case.
        public var name: String
        /// nil for a bare word such as telephone-event's `0-15`.
        public var value: String?

        /// From name and value.
        public init(_ name: String, _ value: String?) { (self.name, self.value) = (name, value) }
    }

    /// 0 to 127.
    public var payloadType: UInt8
    /// In their order; empty ones are left out.
    public var parameters: [Parameter]

    /// From its parts.
    public init(payloadType: UInt8, _ parameters: [Parameter]) {
        (self.payloadType, self.parameters) = (payloadType, parameters)
    }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue, maximum: 2)
        guard let first = parts.first, let payloadType = UInt8(first), payloadType < 128 else { return nil }
        let list = parts.count == 2 ? split(parts[1], at: ";") : []
        guard list.count <= Self.maximumParameterCount else { return nil }
        self.init(payloadType: payloadType, list.compactMap(Self.parameter))
    }

    private static func parameter(_ text: Substring) -> Parameter? {
        let trimmed = text.utf8.drop { $0 == UInt8(ascii: " ") }
        guard !trimmed.isEmpty else { return nil }
        let pair = split(Substring(trimmed), at: "=", maximum: 2)
        return Parameter(String(pair[0]), pair.count == 2 ? String(pair[1]) : nil)
    }

    public var attributeValue: String {
        "\(payloadType) "
            + parameters.map { $0.value.map { [name = $0.name] in "\(name)=\($0)" } ?? $0.name }.joined(separator: ";")
    }

    /// The value of a parameter, whose name is compared without case (RFC 6184 and 7587 are read so by all).
    public subscript(name: String) -> String? {
        parameters.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Opus, the longest list seen, has 8.
    static let maximumParameterCount = 64
}

/// `a=rtcp-fb` (RFC 4585 §4.2).
public struct RTCPFeedback: TypedAttribute, Equatable {
    public static let attributeName = "rtcp-fb"
    /// nil stands for `*`: every payload type of the section.
    public var payloadType: UInt8?
    /// `nack`, `nack pli`, `ccm fir`, `goog-remb`, `transport-cc` …
    public var feedback: String

    /// - Parameter payloadType: nil for all of the section.
    public init(payloadType: UInt8?, _ feedback: String) { (self.payloadType, self.feedback) = (payloadType, feedback) }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue, maximum: 2)
        guard parts.count == 2 else { return nil }
        if parts[0] == "*" {
            payloadType = nil
        } else {
            guard let type = UInt8(parts[0]), type < 128 else { return nil }
            payloadType = type
        }
        feedback = words(parts[1]).joined(separator: " ")
    }

    public var attributeValue: String { (payloadType.map { "\($0)" } ?? "*") + " " + feedback }
}

/// `a=extmap` (RFC 8285 §8): the local identifier of an RTP header extension.
public struct HeaderExtensionMap: TypedAttribute, Equatable {
    public static let attributeName = "extmap"
    /// 1 to 14 for one-byte headers, to 255 for two-byte ones.
    public var identifier: UInt16
    /// nil for both.
    public var direction: MediaDirection?
    /// Which extension it is.
    public var uri: String
    /// What follows the URI, as written.
    public var extensionAttributes: String?

    /// From its parts.
    public init(identifier: UInt16, direction: MediaDirection? = nil, uri: String) {
        (self.identifier, self.direction, self.uri) = (identifier, direction, uri)
    }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue, maximum: 3)
        guard parts.count >= 2 else { return nil }
        let entry = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let identifier = UInt16(entry[0]), identifier > 0 else { return nil }
        if entry.count == 2 {
            guard let direction = MediaDirection(rawValue: String(entry[1])) else { return nil }
            self.direction = direction
        }
        self.identifier = identifier
        uri = String(parts[1])
        extensionAttributes = parts.count == 3 ? String(parts[2]) : nil
    }

    public var attributeValue: String {
        "\(identifier)" + (direction.map { "/" + $0.rawValue } ?? "") + " " + uri + (extensionAttributes.map { " " + $0 } ?? "")
    }

    /// The section that a packet belongs to (RFC 9143 §15).
    public static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
    /// The simulcast layer that a packet belongs to (RFC 8852 §3.1).
    public static let rtpStreamID = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
    /// The layer that a retransmission belongs to (RFC 8852 §3.2).
    public static let repairedRTPStreamID = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
    /// The transport-wide sequence number that `TransportWideFeedback` answers.
    public static let transportWideCC = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
}
