import H264
import MediaContract
import Refusals
import StageHub
import Wire

/// Where the media contract looks at one WHIP publish (docs/design.md 8). Confined to the publish's worker.
///
/// Each call may answer with the refusal that ends the publish. Bytes are valid until the call returns.
protocol PacketInspector: AnyObject {
    /// What sentences call each layer, by its place; empty while there is one.
    var layerNames: [UInt8: String] { get set }
    /// One video packet, in order of arrival, late and retransmitted ones too; duplicates are left out.
    /// - Parameters:
    ///   - found: what is in its payload.
    ///   - layer: its encoding's place.
    func inspectVideo(_ packet: MediaPacket, _ found: NALUnitList, layer: UInt8, arrival: MonotonicTime) -> Refusal?
    /// One packet of audio; duplicates are left out.
    func inspectAudio(_ packet: MediaPacket, arrival: MonotonicTime) -> Refusal?
    /// The encoder cannot be asked for keyframes: requests are not offered, or it does not heed them. Called once.
    func keyframesCannotBeRequested()
    /// Called about once a second: what takes too long.
    func timePassed(_ now: MonotonicTime) -> Refusal?
}

/// The media contract looks at WHIP publishes packet by packet.
extension ContractSession: PacketInspector {
    func inspectVideo(
        _ packet: MediaPacket, _ found: NALUnitList, layer: UInt8, arrival: MonotonicTime
    ) -> Refusal? {
        videoPayload(
            found, layer: layer, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, arrival: arrival)
    }

    func inspectAudio(_ packet: MediaPacket, arrival: MonotonicTime) -> Refusal? {
        audioPayload(byteCount: packet.payloadByteCount, timestamp: packet.timestamp, arrival: arrival)
    }
}
