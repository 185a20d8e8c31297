public import MediaContract
public import Refusals
public import StageHub
public import Wire

/// The media contract looks at WHIP publishes packet by packet.
extension ContractSession: PacketInspector {
    public func inspect(_ packet: MediaPacket, of track: TrackID, arrival: MonotonicTime) -> Refusal? {
        switch track.kind {
        case .video:
            videoPayload(
                packet.payload, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, arrival: arrival)
        case .audio:
            audioPayload(byteCount: packet.payloadByteCount, timestamp: packet.timestamp, arrival: arrival)
        }
    }
}
