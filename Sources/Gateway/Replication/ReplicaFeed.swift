import Admission
import Refusals
import StageHub
import Wire

/// Hands a publication's media on to its replica on another stage, whose sinks know nothing of the first one.
///
/// Copies nothing: payloads lie where the ingest has them. Confined to the publication's worker.
final class ReplicaFeed: SourceAudioSink {
    let replica: Publication
    /// It keeps its sinks until it ends, and so outlives this.
    private unowned let original: Publication
    private let holder: LocalHolder
    /// A bit for each layer of which a keyframe has come: every sink begins with a picture that can be decoded alone.
    private var begun: UInt8 = 0

    init(from original: Publication, to replica: Publication, holder: LocalHolder) {
        (self.original, self.replica, self.holder) = (original, replica, holder)
        replica.source = self
    }

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        holder.progressed(at: run.arrival)
        guard run.track.kind == .audio || hasBegun(run) else { return }
        unsafe replica.forward(packets, of: run)
    }

    private func hasBegun(_ run: MediaRun) -> Bool {
        let layer = UInt8(1) << min(run.track.layer, 7)
        if run.isKeyframe { begun |= layer }
        return begun & layer != 0
    }

    func formatChanged(_ track: TrackID, to format: TrackFormat) { replica.setFormat(format, of: track) }
    func layersChanged() { replica.layersChanged() }
    func restarted() { replica.restarted() }
    func muteChanged(_ track: TrackID, isMuted: Bool) { replica.muteChanged(track, isMuted: isMuted) }

    func sourceAudioChanged(to format: SourceAudioFormat?) { replica.setSourceAudioFormat(format) }

    func forwardSourceAudio(_ frame: UnsafeRawBufferPointer, at mediaTime: Duration, arrival: MonotonicTime) {
        unsafe replica.forwardSourceAudio(frame, at: mediaTime, arrival: arrival)
    }

    /// Whoever watches the original ends the replica too (`ReplicatedPublish`).
    func ended(_ reason: SessionEnd) {}
}

/// What the destination's sinks want, the encoder hears as what the source's own want.
extension ReplicaFeed: MediaSource {
    var canRequestKeyframe: Bool { original.source?.canRequestKeyframe ?? false }
    func requestKeyframe(_ track: TrackID) { original.source?.requestKeyframe(track) }
    func limitBitrate(_ bitsPerSecond: Int?) { original.limitBitrate(bitsPerSecond, for: self) }
}
