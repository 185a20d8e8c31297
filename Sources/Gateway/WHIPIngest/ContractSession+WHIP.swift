public import H264
public import MediaContract
public import Refusals
public import StageHub
public import Wire

/// The media contract looks at WHIP publishes packet by packet.
extension ContractSession: PacketInspector {
    public func inspectVideo(_ packet: MediaPacket, _ found: NALUnitList, arrival: MonotonicTime) -> Refusal? {
        videoPayload(found, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, arrival: arrival)
    }

    public func inspectAudio(_ packet: MediaPacket, arrival: MonotonicTime) -> Refusal? {
        audioPayload(byteCount: packet.payloadByteCount, timestamp: packet.timestamp, arrival: arrival)
    }
}
