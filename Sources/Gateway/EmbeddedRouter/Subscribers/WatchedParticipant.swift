import Admission
import RTP
import StageHub
import Wire

/// A participant whom subscribers of this worker watch: the feed of its publication and who gets it. Confined to the worker.
///
/// It outlives a publication for a while: an encoder that comes back finds its subscribers waiting.
final class WatchedParticipant {
    let key: ParticipantKey
    private(set) var sessions: [SubscriberSession] = []
    private(set) var feed: MediaFeed?
    private(set) var tap: LiveTap?
    /// Best first; nil before the publication has told them, and without one.
    private(set) var layers: [VideoLayer]?
    /// Since when no publication is there.
    private(set) var absentSince: MonotonicTime?
    private(set) var store = RetransmissionStore()
    /// Counts the feeds; with a block's own epoch it tells when numbers begin anew.
    private var generation: UInt64 = 0
    private var epoch: UInt64?
    private var skippedBefore: UInt64 = 0

    init(key: ParticipantKey, now: MonotonicTime) { (self.key, absentSince) = (key, now) }

    deinit { store.removeAll() }

    func add(_ session: SubscriberSession) { sessions.append(session) }

    func remove(_ session: SubscriberSession) {
        sessions.removeAll { $0 === session }
        want()
    }

    /// Has those layers copied that some session gets or waits for.
    func want() {
        var wanted = LayerSet()
        for session in sessions { session.want(&wanted) }
        feed?.want(wanted)
        // Only further pictures push old ones out, and what many workers hold for nobody is missing from the publication's pool.
        if wanted.isEmpty { store.removeAll() }
    }

    func layersChanged(_ layers: [VideoLayer]?) {
        self.layers = layers
        for session in sessions { session.layersChanged(layers) }
    }

    /// A publication is there: what comes by `feed` is sent on from now.
    func follow(_ tap: LiveTap, by feed: MediaFeed) {
        (self.tap, self.feed, absentSince) = (tap, feed, nil)
        (skippedBefore, generation) = (0, generation + 1)
        want()
    }

    /// The publication has ended.
    func loseFeed(at now: MonotonicTime) {
        (tap, feed, absentSince) = (nil, nil, now)
        layersChanged(nil)
    }

    /// Sends on what waits in the feed.
    func drain(at now: MonotonicTime) {
        guard let feed else { return }
        feed.drain { block in
            noteEpoch(of: block, feed)
            for session in sessions { session.send(block, epoch: epoch ?? 0, at: now) }
            if block.track.kind == .video { store.keep(block) } else { block.giveBack() }
        }
    }

    /// A new publication, a restart of its numbers or blocks that were skipped: decoders start again at a keyframe.
    private func noteEpoch(of block: MediaBlock, _ feed: MediaFeed) {
        let current = generation << 32 | UInt64(block.epoch)
        let skipped = feed.skippedCount
        guard current != epoch || skipped != skippedBefore else { return }
        if current != epoch { store.removeAll() }
        (epoch, skippedBefore) = (current, skipped)
        for session in sessions { session.awaitKeyframe() }
    }
}

/// The blocks of one publication's video that went to the subscribers of one worker, for half a second: NACKs of all of them are
/// answered from the one plain copy, each by RTX under its own source and number (RFC 4588).
struct RetransmissionStore {
    private var blocks: [MediaBlock] = []
    private var head = 0
    /// Of `blocks[0]`, counted from the store's beginning: what is indexed of blocks before it is gone.
    private var firstBlock = 0
    /// By layer, each with numbers of its own; made when the first block of one comes.
    private var indexes: [SequenceIndex] = []

    init() { blocks.reserveCapacity(2 * Self.maximumBlocks) }

    /// Takes over a block that the worker has sent; gives back those that are too old or too many.
    mutating func keep(_ block: MediaBlock) {
        let (layer, position) = (MediaBlock.place(of: block.track), (firstBlock + blocks.count) * MediaBlock.maximumPackets)
        while indexes.count <= layer { indexes.append(SequenceIndex(capacity: Self.indexCapacity)) }
        for (offset, packet) in block.packets.enumerated() { indexes[layer].note(packet.sequenceNumber, at: position + offset) }
        blocks.append(block)
        let oldest = block.arrival - Self.period
        while head < blocks.count, blocks.count - head > Self.maximumBlocks || blocks[head].arrival < oldest {
            blocks[head].giveBack()
            head += 1
        }
        // The front is cut off at times, not at each block.
        guard head >= Self.maximumBlocks else { return }
        blocks.removeSubrange(..<head)
        firstBlock += head
        head = 0
    }

    /// The layer's packet with the publisher's `sequenceNumber`; nil when it is kept no longer or never came.
    func find(_ sequenceNumber: Int64, of layer: TrackID) -> (block: MediaBlock, packet: MediaBlock.Packet)? {
        let layer = MediaBlock.place(of: layer)
        guard layer < indexes.count, let position = indexes[layer].position(of: sequenceNumber) else { return nil }
        let (number, offset) = position.quotientAndRemainder(dividingBy: MediaBlock.maximumPackets)
        guard number >= firstBlock + head else { return nil }
        let block = blocks[number - firstBlock]
        return (block, block.packets[offset])
    }

    mutating func removeAll() {
        for block in blocks[head...] { block.giveBack() }
        (firstBlock, head) = (firstBlock + blocks.count, 0)
        blocks.removeAll(keepingCapacity: true)
    }

    static let period: Duration = .milliseconds(500)
    private static let indexCapacity = 4_096
    /// Half of what a publication has: the other half is for what is on its way.
    static let maximumBlocks = MediaBlockPool.maximumBlocks / 2
}
