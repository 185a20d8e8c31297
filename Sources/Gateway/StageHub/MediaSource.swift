/// What sinks ask of the ingest that feeds a publication. Lives on the same worker.
public protocol MediaSource: AnyObject {
    /// False for RTMP: an RTMP encoder cannot be asked.
    var canRequestKeyframe: Bool { get }
    /// Asks the encoder for a keyframe of that layer. Sinks may ask as often as they like: the ingest bounds what it passes on.
    func requestKeyframe(_ track: TrackID)
    /// The least of what the sinks can take, bits a second; nil lifts the limit.
    func limitBitrate(_ bitsPerSecond: Int?)
    /// A router has answered the announce: what is forwarded reaches somebody.
    func announced()
}

extension MediaSource {
    public func announced() {}
}
