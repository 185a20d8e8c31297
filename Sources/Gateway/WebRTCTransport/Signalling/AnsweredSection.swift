public import Refusals
public import SDP

/// What publishers' and subscribers' m-lines have in common: what their offers must show, and what answers say of them.
extension MediaDescription {
    /// Whether its media can come over our one port, whatever the codec.
    public func checkTransport() throws(Refusal) {
        guard Self.transportProtocols.contains(transportProtocol) else { throw Refusal(.unsupportedTransport) }
        guard attributes.contains("rtcp-mux") || attributes.contains("rtcp-mux-only") else { throw Refusal(.noRTCPMux) }
    }

    /// The beginning of an answer's m-line: what media it is, where it goes, and its `a=mid`.
    /// - Parameter primary: the candidate that `c=` and `m=` name.
    public init(
        answering media: String, mid: String, transportProtocol: String, payloadTypes: [UInt8], at primary: Candidate?
    ) {
        self.init(
            media: media, port: primary?.port ?? 9, transportProtocol: transportProtocol, formats: payloadTypes.map(String.init))
        let address = primary?.connectionAddress ?? "0.0.0.0"
        connection = ConnectionData(addressType: address.contains(":") ? "IP6" : "IP4", address: address)
        attributes.append("mid", mid)
    }

    /// What an answer says of the codec that it takes.
    /// - Parameter retransmission: the payload type of RTX (RFC 4588 §8.1); nil without.
    public mutating func appendFormat(
        _ map: RTPMap, _ parameters: FormatParameters?, feedback: [String], retransmission: UInt8?
    ) {
        attributes.append(map)
        if let parameters { attributes.append(parameters) }
        for name in feedback { attributes.append(RTCPFeedback(payloadType: map.payloadType, name)) }
        guard let retransmission else { return }
        attributes.append(RTPMap(payloadType: retransmission, encodingName: "rtx", clockRate: 90_000))
        attributes.append(FormatParameters(payloadType: retransmission, [.init("apt", "\(map.payloadType)")]))
    }

    /// What must be taken for DTLS-SRTP, whatever a client writes for it (RFC 8829 §5.1.2), and an old name of libwebrtc's. A
    /// section without fingerprint is refused for that.
    private static let transportProtocols: Set<String> = [
        "UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP", "TCP/DTLS/RTP/SAVPF", "TCP/DTLS/RTP/SAVP", "RTP/SAVPF", "RTP/SAVP", "RTP/AVPF",
        "RTP/AVP", "TCP/TLS/RTP/SAVPF",
    ]
}
