import RTCP

extension RTCPPacket {
    /// Calls `body` with each of our SSRCs that a receiver's packet is about.
    func forEachMediaSSRC(_ body: (UInt32) -> Void) {
        switch self {
        case .receiverReport(let report): for block in report.reports { body(block.ssrc) }
        case .senderReport(let report): for block in report.reports { body(block.ssrc) }
        case .nack(let nack): body(nack.mediaSSRC)
        case .pictureLoss(let indication): body(indication.mediaSSRC)
        case .fullIntraRequest(let request): for entry in request.entries { body(entry.ssrc) }
        case .bitrateLimit(let limit): for ssrc in limit.ssrcs { body(ssrc) }
        case .sourceDescription, .goodbye, .extendedReport, .other: break
        }
    }
}
