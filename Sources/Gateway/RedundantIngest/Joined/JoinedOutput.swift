import MediaContract
import Refusals
import StageHub
import Wire

/// The participant that the stage sees: writes what the source brings to its publication, on one timeline. Confined.
final class JoinedOutput {
    let publication: Publication
    /// Called once, when there has been enough of it to call it a publish.
    var onStart: () -> Void = {}
    /// When something with a later time than before was forwarded last.
    private(set) var progress: MonotonicTime?
    private var splice = SourceSplice()
    private var gate = PublishGate(needsBothTracks: false)
    /// Of the source until now.
    private var formerClock: SourceClock?
    /// Layers that wait for their keyframe, a bit for each.
    private var awaitsKeyframe: UInt8 = .max
    private var packets: [MediaPacket] = []

    init(_ publication: Publication) {
        self.publication = publication
        packets.reserveCapacity(512)  // the biggest frames measured: 264 packets
    }

    /// Media of another source follows.
    func begin(_ source: EncoderSource) {
        splice.begin(after: formerClock, source.observed.clock)
        awaitsKeyframe = .max
        // By place: a router that takes one layer begins with the first that it hears of.
        apply(source.observed.news.values.sorted { $0.track.layer < $1.track.layer }, at: .zero)
    }

    /// Whether the stage has all pictures before those that begin with this block of the source's.
    func reaches(_ block: FeedBlock) -> Bool {
        guard let first = block.packets.first else { return false }
        return splice.reaches(first.timestamp, of: block.run.track)
    }

    /// Sound's format last: routers are announced as soon as there is one of each kind, with the layers that are known then.
    func apply(_ news: [FeedBlock.News], at now: MonotonicTime) {
        setFormats(of: .video, news)
        for item in news {
            guard let layer = item.layer else { continue }
            publication.setPictureSize(width: layer.width, height: layer.height, of: item.track, rid: layer.rid, at: now)
        }
        setFormats(of: .audio, news)
    }

    private func setFormats(of kind: MediaKind, _ news: [FeedBlock.News]) {
        for item in news where item.track.kind == kind {
            if let format = item.format { publication.setFormat(format, of: item.track) }
        }
    }

    /// Forwards one run of the source.
    /// - Parameters:
    ///   - blocks: all of the run, in order.
    ///   - clock: the source's.
    func write(_ blocks: [FeedBlock], arrival: MonotonicTime, _ clock: SourceClock) {
        guard let head = blocks.first, let first = head.packets.first else { return }
        let run = MediaRun(track: head.run.track, isKeyframe: head.run.isKeyframe, arrival: arrival)
        if head.followsLoss { awaitsKeyframe = .max }
        guard passes(run) else { return }
        formerClock = clock
        let count = blocks.reduce(Int64(0)) { $0 + Int64($1.packets.count) }
        let place = splice.place(run.track, number: first.sequenceNumber, count: count, timestamp: first.timestamp)
        guard let place else { return }
        let timestamp = first.timestamp &+ place.shift
        _ = publication.timeline.place(
            .nanoseconds(run.track.nanoseconds(ofTimestamp: timestamp)), of: run.track, arrival: arrival)
        forward(blocks, place, run)
        startIf(run, timestamp)
    }

    private func passes(_ run: MediaRun) -> Bool {
        guard run.track.kind == .video else { return true }
        let bit: UInt8 = 1 << min(run.track.layer, 7)
        if run.isKeyframe { awaitsKeyframe &= ~bit }
        return awaitsKeyframe & bit == 0
    }

    private func forward(_ blocks: [FeedBlock], _ place: SourceSplice.Place, _ run: MediaRun) {
        packets.removeAll(keepingCapacity: true)
        var byteCount = 0
        for block in blocks {
            for packet in block.packets {
                var moved = packet
                moved.sequenceNumber &+= place.number
                moved.timestamp &+= place.shift
                if place.isGap { moved.marker = true }
                packets.append(moved)
            }
            byteCount += block.byteCount
        }
        let endsFrame = run.track.kind == .audio || packets.last?.marker == true
        publication.counters[run.track].count(byteCount: byteCount, endsFrame: endsFrame)
        progress = run.arrival
        unsafe packets.withUnsafeBufferPointer { unsafe publication.forward($0, of: run) }
    }

    private func startIf(_ run: MediaRun, _ timestamp: Int64) {
        guard !gate.isOpen else { return }
        let start =
            run.track.kind == .video
            ? gate.videoForwarded(isDecodableIDR: run.isKeyframe, layer: run.track.layer, mediaTime: timestamp)
            : gate.audioForwarded(mediaTime: timestamp)
        if start != nil { onStart() }
    }

    func end(_ reason: SessionEnd) { publication.end(reason) }
}
