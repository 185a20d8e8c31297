/// `a=rtcp-fb` (RFC 4585 §4.2).
public struct RTCPFeedback: TypedAttribute, Equatable {
    public static let attributeName = "rtcp-fb"
    /// nil stands for `*`: every payload type of the section.
    public var payloadType: UInt8?
    /// `nack`, `nack pli`, `ccm fir`, `goog-remb`, `transport-cc` …
    public var feedback: String

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
