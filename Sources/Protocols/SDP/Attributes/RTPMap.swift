/// `a=rtpmap` (RFC 8866 §6.6): what a dynamic payload type means.
public struct RTPMap: TypedAttribute, Equatable {
    public static let attributeName = "rtpmap"
    public var payloadType: UInt8
    /// As written; compare without case (`H264`, `opus` and `OPUS` are all seen).
    public var encodingName: String
    /// Ticks a second.
    public var clockRate: UInt32
    /// The part after the second slash: channels of audio.
    public var encodingParameters: String?

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

    public func isEncoding(_ name: String, clockRate: UInt32) -> Bool {
        self.clockRate == clockRate && encodingName.lowercased() == name.lowercased()
    }
}
