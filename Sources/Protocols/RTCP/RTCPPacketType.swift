/// RTCP packet types (RFC 3550 §12.1, RFC 4585 §6.1, RFC 3611 §2).
enum RTCPPacketType {
    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let goodbye: UInt8 = 203
    static let transportFeedback: UInt8 = 205
    static let payloadFeedback: UInt8 = 206
    static let extendedReport: UInt8 = 207
}

/// Feedback message types (the FMT field).
enum FeedbackMessageType {
    /// Transport layer: generic NACK (RFC 4585 §6.2.1) and transport-wide congestion control.
    static let nack: UInt8 = 1
    static let transportWide: UInt8 = 15
    /// Payload specific: PLI (RFC 4585 §6.3.1), FIR (RFC 5104 §4.3.1), application layer (REMB).
    static let pictureLoss: UInt8 = 1
    static let fullIntraRequest: UInt8 = 4
    static let applicationLayer: UInt8 = 15
}
