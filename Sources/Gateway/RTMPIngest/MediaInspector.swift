import AAC
import H264
import MediaContract
import Refusals
import Wire

/// Where the media contract looks at one publish (docs/design.md 8). Confined to the publish's worker.
///
/// Each call may answer with the refusal that ends the publish; nil lets it go on. Bytes are valid until the call returns.
/// Timestamps are the timeline's media times, in unwrapped ticks of the track's clock.
protocol MediaInspector: AnyObject {
    /// Video alone or audio alone is no publish. May change while the publish lives.
    var needsBothTracks: Bool { get }
    /// What sentences call each layer, by its place; empty while there is one.
    var layerNames: [UInt8: String] { get set }
    /// The main track is of a codec that the gateway does not take, by the name its user knows.
    func foundVideoCodec(_ name: String, arrival: MonotonicTime) -> Refusal?
    func foundAudioCodec(_ name: String, arrival: MonotonicTime) -> Refusal?
    /// The parameter sets of a sequence header, the first or a new one in mid-stream: NAL units without start codes.
    /// - Parameter layer: its place among the publication's layers.
    func videoConfigured(_ parameterSets: [[UInt8]], layer: UInt8, arrival: MonotonicTime) -> Refusal?
    func audioConfigured(_ configuration: AudioSpecificConfig, arrival: MonotonicTime) -> Refusal?
    func opusConfigured(channelCount: Int, arrival: MonotonicTime) -> Refusal?
    /// What was found in one access unit of a layer, before that is forwarded.
    func accessUnit(_ found: NALUnitList, layer: UInt8, timestamp: Int64, arrival: MonotonicTime) -> Refusal?
    func audioFrame(byteCount: Int, timestamp: Int64, arrival: MonotonicTime) -> Refusal?
    /// Frames of an admitted codec turned out not to be decodable.
    func audioNotDecodable(arrival: MonotonicTime) -> Refusal?
    /// Video has come of which nothing can be read: from the first time on tracks are missing.
    func unreadableVideo(arrival: MonotonicTime)
    /// The same of audio.
    func unreadableAudio(arrival: MonotonicTime)
    /// Called about once a second: what is missing, what takes too long.
    func timePassed(_ now: MonotonicTime) -> Refusal?
    /// The publish is over.
    func ended()
}

/// The media contract looks at RTMP publishes as it is.
extension ContractSession: MediaInspector {}
