/// Takes a publication's media: a router's leg, the taps of the embedded router and of a recording, a replica. Lives on the
/// publication's worker.
public protocol MediaSink: PublicationObserver {
    /// Packets of one run in order, of whichever layer; their payloads are valid until this returns. Never blocks, never fails.
    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun)
}
