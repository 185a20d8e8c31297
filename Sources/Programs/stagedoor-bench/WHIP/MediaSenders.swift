import RTCP
import SRTP
import Wire

/// The tracks of one publisher: by which sender a packet leaves, whose packet a request gets, of whom reports tell.
struct MediaSenders {
    /// What one layer sent and was asked for.
    struct LayerAccount: Encodable {
        var packets = 0
        /// Protected.
        var bytes = 0
        var nackedPackets = 0
        var retransmitted = 0
        /// Requests that were answered with another layer's packet.
        var crossed = 0
        var keyframeRequests = 0
    }

    private(set) var layers: [LayerAccount]
    private(set) var audioAccount = LayerAccount()
    private var video: [RTPSender]
    private var audio: RTPSender
    private let faults: Set<SimulcastFault>

    /// As many packets as OBS keeps; ours keep less (`RTPSender.usualRing`).
    private static let sharedRing = 4_000

    init(_ offer: WHIPOffer, faults: Set<SimulcastFault>) {
        self.faults = faults
        layers = Array(repeating: LayerAccount(), count: offer.layerCount)
        audio = RTPSender(ssrc: offer.audioSSRC, payloadType: WHIPOffer.audioPayloadType, clockRate: 48_000)
        video = (0..<offer.layerCount).map { layer in
            RTPSender(
                ssrc: offer.videoSSRC(ofLayer: layer), payloadType: WHIPOffer.videoPayloadType, clockRate: 90_000,
                rid: offer.rid(ofLayer: layer),
                ringSize: faults.contains(.crossedRequests) ? Self.sharedRing : RTPSender.usualRing,
                startsAtZero: !faults.isEmpty)
        }
    }

    /// - Parameter offset: milliseconds since the beginning at which this repetition of the clip began.
    mutating func protect(
        _ packet: RTPClip.Packet, _ payload: [UInt8], offset: Int, by protection: inout SRTPOutbound
    ) throws(SRTPError) -> [UInt8] {
        guard packet.track == .video else {
            let bytes = try Self.protect(packet, payload, offset, by: &protection, in: &audio)
            audioAccount.packets += 1
            audioAccount.bytes += bytes.count
            return bytes
        }
        let bytes = try Self.protect(packet, payload, offset, by: &protection, in: &video[packet.layer])
        layers[packet.layer].packets += 1
        layers[packet.layer].bytes += bytes.count
        return bytes
    }

    private static func protect(
        _ packet: RTPClip.Packet, _ payload: [UInt8], _ offset: Int, by protection: inout SRTPOutbound, in sender: inout RTPSender
    ) throws(SRTPError) -> [UInt8] {
        let timestamp = packet.timestamp &+ UInt32(truncatingIfNeeded: offset * sender.clockRate / 1_000)
        return try sender.protect(payload, timestamp: timestamp, isLast: packet.isLast, by: &protection)
    }

    /// Those of whom a sender report tells now.
    var reporting: [RTPSender] {
        ((faults.contains(.oneReport) ? Array(video.prefix(1)) : video) + [audio]).filter { $0.packetCount > 0 }
    }

    /// The packets with which a request is answered.
    mutating func answers(to nack: GenericNACK) -> [[UInt8]] {
        guard let layer = video.firstIndex(where: { $0.ssrc == nack.mediaSSRC }) else { return [] }
        let answering = faults.contains(.crossedRequests) ? 0 : layer
        var answers: [[UInt8]] = []
        nack.forEachSequenceNumber { number in
            layers[layer].nackedPackets += 1
            guard let packet = video[answering].packet(number) else { return }
            layers[layer].retransmitted += 1
            if answering != layer { layers[layer].crossed += 1 }
            answers.append(packet)
        }
        return answers
    }

    /// A keyframe was asked for; it comes when the clip has one.
    mutating func keyframeWasAsked(of ssrc: UInt32) {
        if let layer = video.firstIndex(where: { $0.ssrc == ssrc }) { layers[layer].keyframeRequests += 1 }
    }
}

extension MediaSenders.LayerAccount {
    static func += (sum: inout Self, other: Self) {
        sum.packets += other.packets
        sum.bytes += other.bytes
        sum.nackedPackets += other.nackedPackets
        sum.retransmitted += other.retransmitted
        sum.crossed += other.crossed
        sum.keyframeRequests += other.keyframeRequests
    }
}
