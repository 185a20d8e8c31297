import EventLoop
import Refusals
import StageHub
import Wire

/// A publication's way into its recording: copies what is recorded into blocks, and no more. Confined to the publication's
/// worker; what there is no block for is lost to the recording, never to the stream.
final class RecordingTap: SourceAudioSink {
    let feed = RecordingFeed()
    /// It keeps its observers until it ends, and so outlives this.
    private unowned let publication: Publication
    private let takesVideo: Bool
    private let takesAudio: Bool
    private var takesSourceAudio = false
    private var hasAudioFormat = false
    private var layers = LayerSwitch()
    private var pool = RecordingBlockPool()
    private var block: RecordingBlock?
    private var hasLost = false
    /// When the clocks of video and audio were read last.
    private var clockRead: [MonotonicTime?] = [nil, nil]
    private var keyframeRequests = Allowance(1, then: .seconds(2))

    init(_ publication: Publication, takesVideo: Bool, takesAudio: Bool) {
        (self.publication, self.takesVideo, self.takesAudio) = (publication, takesVideo, takesAudio)
    }

    // MARK: - MediaSink

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        if run.track.kind == .audio {
            if takesSourceAudio || !takesAudio { return }
        } else if !takes(run) {
            return
        }
        readClock(of: run.track, at: run.arrival)
        var start = 0
        while start < packets.count, let block = room(at: run.arrival) {
            start += unsafe block.append(packets[start...], of: run.track.kind)
        }
    }

    func forwardSourceAudio(_ frame: UnsafeRawBufferPointer, at mediaTime: Duration, arrival: MonotonicTime) {
        guard takesSourceAudio, takesAudio else { return }
        readClock(of: .audio, at: arrival)
        guard let block = room(at: arrival) else { return }
        unsafe block.appendSourceFrame(frame, at: mediaTime)
    }

    func formatChanged(_ track: TrackID, to format: TrackFormat) {
        // Video tells its parameter sets itself.
        guard case .opus = format else { return }
        takesSourceAudio = publication.sourceAudioFormat != nil
        if !takesSourceAudio { noteAudioFormat() }
    }

    func sourceAudioChanged(to format: SourceAudioFormat?) {
        takesSourceAudio = format != nil
        noteAudioFormat()
    }

    func layersChanged() { layers.aim(at: publication.layers.first { $0.isActive }?.track ?? layers.target) }

    func restarted() {
        // The writer begins anew, also where sound alone has another source and pictures go on.
        layers.awaitKeyframe()
        clockRead = [nil, nil]
        note(.restarted)
    }

    func ended(_ reason: SessionEnd) {
        handOver()
        feed.end()
    }

    // MARK: - What is taken

    private func takes(_ run: MediaRun) -> Bool {
        guard takesVideo else { return false }
        if layers.target == nil { layers.aim(at: run.track) }
        switch layers.passage(of: run) {
        case .goesOn: return true
        case .rests:
            askForKeyframe(at: run.arrival)
            return false
        case .begins(let former):
            if let former, former != run.track {
                note(.layerBegan(shift: publication.timeline.shift(from: former, to: run.track)), at: run.arrival)
                clockRead[0] = nil
            }
            return true
        }
    }

    /// An RTMP encoder cannot be asked: its next keyframe comes by itself.
    private func askForKeyframe(at now: MonotonicTime) {
        guard let wanted = layers.wanted, let source = publication.source, source.canRequestKeyframe else { return }
        if keyframeRequests.take(at: now) { source.requestKeyframe(wanted) }
    }

    /// About once a block and track: the writer ties both tracks' times together by it, well before the first second is written,
    /// and to the clock on the wall.
    private func readClock(of track: TrackID, at now: MonotonicTime) {
        let index = track.kind == .video ? 0 : 1
        if let read = clockRead[index], now - read < Self.handOverInterval { return }
        guard let timestamp = publication.timeline.timestamp(of: track, at: now), let block = room(at: now) else { return }
        clockRead[index] = now
        block.append(.clock(track.kind, time: now, timestamp: timestamp))
    }

    // MARK: - Blocks

    /// A block with room for one packet; nil when the writer lags by all of them. The one before is handed over when it is full,
    /// or when its first entry has waited for long enough.
    private func room(at now: MonotonicTime) -> RecordingBlock? {
        if let block, !block.isFull, block.isEmpty || now - block.began < Self.handOverInterval { return block }
        handOver()
        guard let next = pool.take(at: now) else {
            lose()
            return nil
        }
        return begin(next, at: now)
    }

    /// The writer begins anew behind what is lost, and an encoder may send no keyframe that it is not asked for.
    private func lose() {
        layers.awaitKeyframe()
        if !hasLost { (hasLost, clockRead) = (true, [nil, nil]) }
    }

    private func begin(_ next: RecordingBlock, at now: MonotonicTime) -> RecordingBlock {
        next.begin(at: now)
        if hasLost {
            // What was noted meanwhile is lost as well. So the format is told again here, and the clocks
            // are read again with the next run.
            next.append(.lost)
            if let audioFormat { next.append(audioFormat) }
        }
        (block, hasLost) = (next, false)
        return next
    }

    /// Formats come before media, and seldom: they go into the block that the media goes into. Where there is none, the first
    /// block after it tells them.
    private func note(_ entry: RecordingBlock.Entry, at now: MonotonicTime? = nil) {
        room(at: now ?? block?.began ?? .zero)?.append(entry)
    }

    private func noteAudioFormat() {
        guard let audioFormat else { return }
        // With sound of another kind the writer begins anew too.
        if hasAudioFormat { layers.awaitKeyframe() }
        hasAudioFormat = true
        note(audioFormat)
    }

    /// How the sound that is taken now is to be decoded.
    private var audioFormat: RecordingBlock.Entry? {
        if let format = publication.sourceAudioFormat { return .sourceFormat(format) }
        guard case .opus(let isStereo)? = publication.formats[.audio] else { return nil }
        return .opusFormat(isStereo: isStereo)
    }

    private func handOver() {
        guard let block else { return }
        self.block = nil
        feed.push(block)
    }

    private static let handOverInterval = Duration.milliseconds(200)
}
