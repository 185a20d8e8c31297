import RTP
import SDP
import StageHub
import Wire

/// Which source is which track (RFC 8843 §9.2, RFC 8852): by the offer, else by RID, MID or payload type.
extension PacketBooks {
    /// The sources that the offer names.
    mutating func announceSources() {
        if let ssrc = offer.video.ssrc, offer.video.rids.count <= 1 {
            let media = add(RTPSource(ssrc: ssrc, track: .video, role: .media))
            if let media, let retransmission = offer.video.retransmissionSSRC {
                _ = add(RTPSource(ssrc: retransmission, track: .video, role: .retransmission(of: media)))
            }
        }
        if let ssrc = offer.audio?.ssrc { _ = add(RTPSource(ssrc: ssrc, track: .audio, role: .media)) }
    }

    func index(of ssrc: UInt32) -> Int? { sources.firstIndex { $0.ssrc == ssrc } }

    /// The place of a source that the offer does not name; nil when nothing places it or there are too many.
    mutating func place(_ header: RTPHeader, _ packet: UnsafeRawBufferPointer) -> Int? {
        switch header.payloadType {
        case offer.video.payloadType: placeVideo(header, packet)
        case offer.video.retransmissionPayloadType: placeRetransmission(header, packet)
        case offer.audio?.payloadType: add(RTPSource(ssrc: header.ssrc, track: .audio, role: .media))
        default: nil
        }
    }

    private mutating func placeVideo(_ header: RTPHeader, _ packet: UnsafeRawBufferPointer) -> Int? {
        guard offer.video.rids.count > 1 else { return add(RTPSource(ssrc: header.ssrc, track: .video, role: .media)) }
        guard let layer = layer(header, packet, HeaderExtensionMap.rtpStreamID) else { return nil }
        return add(RTPSource(ssrc: header.ssrc, track: TrackID(.video, layer: layer), role: .media))
    }

    private mutating func placeRetransmission(_ header: RTPHeader, _ packet: UnsafeRawBufferPointer) -> Int? {
        let layer =
            offer.video.rids.count > 1 ? layer(header, packet, HeaderExtensionMap.repairedRTPStreamID) : 0
        guard let layer,
            let media = sources.lastIndex(where: { $0.track == TrackID(.video, layer: layer) && $0.role == .media })
        else { return nil }
        return add(RTPSource(ssrc: header.ssrc, track: TrackID(.video, layer: layer), role: .retransmission(of: media)))
    }

    /// The layer whose rid the packet carries: its index in the offer's simulcast list.
    private func layer(_ header: RTPHeader, _ packet: UnsafeRawBufferPointer, _ uri: String) -> UInt8? {
        guard let id = offer.video.identifier(of: uri), let range = header.extensions?.range(of: id, in: packet.bytes),
            let index = offer.video.rids.firstIndex(where: { $0.utf8.elementsEqual(packet[range]) })
        else { return nil }
        return UInt8(index)
    }

    private mutating func add(_ source: RTPSource) -> Int? {
        guard sources.count < Self.maximumSources, index(of: source.ssrc) == nil else { return nil }
        sources.append(source)
        return sources.count - 1
    }

    /// Of one session, those that its offer names included (docs/design.md 5.6).
    private static let maximumSources = 12
}
