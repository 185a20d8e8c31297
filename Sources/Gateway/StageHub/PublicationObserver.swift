public import Refusals

/// Who is told what becomes of a publication; a `MediaSink` takes its media too. Lives on the publication's worker.
public protocol PublicationObserver: AnyObject {
    /// The track's format became known or changed.
    func formatChanged(_ track: TrackID, to format: TrackFormat)
    /// A layer of video came, was paused, goes on, or changed its size, rank or, by a quarter, its rate: `Publication.layers`.
    func layersChanged()
    /// The publisher muted or unmuted a track (WHIP: silence is not an end).
    func muteChanged(_ track: TrackID, isMuted: Bool)
    /// Sequence numbers and timestamps of all tracks start anew after this (takeover, new SSRC).
    func restarted()
    /// The publish turned out to be real: enough media has come, and it has been reported.
    func publishStarted()
    func ended(_ reason: SessionEnd)
}

/// Observers need not take note of anything but the end.
extension PublicationObserver {
    public func formatChanged(_ track: TrackID, to format: TrackFormat) {}
    public func layersChanged() {}
    public func muteChanged(_ track: TrackID, isMuted: Bool) {}
    public func restarted() {}
    public func publishStarted() {}
}
