public import Refusals

/// Where a publication's media goes: a router's leg, the embedded router. Lives on the publication's worker.
public protocol MediaSink: AnyObject {
    /// Packets of one run in order, of whichever layer; their payloads are valid until this returns. Never blocks, never fails.
    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun)
    /// The track's format became known or changed.
    func formatChanged(_ track: TrackID, to format: TrackFormat)
    /// A layer of video came, was paused, goes on, or changed its size, rank or, by a quarter, its rate: `Publication.layers`.
    func layersChanged()
    /// The publisher muted or unmuted a track (WHIP: silence is not an end).
    func muteChanged(_ track: TrackID, isMuted: Bool)
    /// Sequence numbers and timestamps of all tracks start anew after this (takeover, new SSRC).
    func restarted()
    func ended(_ reason: SessionEnd)
    /// The publish turned out to be real: enough media has come, and it has been reported.
    func publishStarted()
}

extension MediaSink {
    public func layersChanged() {}
    public func publishStarted() {}
}

/// What sinks ask of the ingest that feeds a publication. Lives on the same worker.
public protocol MediaSource: AnyObject {
    /// False for RTMP: an RTMP encoder cannot be asked.
    var canRequestKeyframe: Bool { get }
    func requestKeyframe(_ track: TrackID)
    /// The least of what the sinks can take, bits a second; nil lifts the limit.
    func limitBitrate(_ bitsPerSecond: Int?)
    /// A router has answered the announce: what is forwarded reaches somebody.
    func announced()
}

extension MediaSource {
    public func announced() {}
}
