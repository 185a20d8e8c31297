/// Where a publication's media goes: a router's leg, the embedded router.
public protocol MediaSink: PublicationObserver {
    /// Packets of one run in order, of whichever layer; their payloads are valid until this returns. Never blocks, never fails.
    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun)
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
