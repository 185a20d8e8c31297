import RTP
import Wire

/// The blocks of one publication's video that went to the subscribers of one worker, for half a second: NACKs of all of them are
/// answered from the one plain copy, each by RTX under its own source and number (RFC 4588).
struct RetransmissionStore {
    private var blocks: [MediaBlock] = []
    private var head = 0
    /// Of `blocks[0]`, counted from the store's beginning: what is indexed of blocks before it is gone.
    private var firstBlock = 0
    private var index = SequenceIndex(capacity: 4_096)

    /// Takes over a block that the worker has sent; gives back those that are too old or too many.
    mutating func keep(_ block: MediaBlock) {
        let position = (firstBlock + blocks.count) * MediaBlock.maximumPackets
        for (offset, packet) in block.packets.enumerated() { index.note(packet.sequenceNumber, at: position + offset) }
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

    /// The packet with the publisher's `sequenceNumber`; nil when it is kept no longer or never came.
    func find(_ sequenceNumber: Int64) -> (block: MediaBlock, packet: MediaBlock.Packet)? {
        guard let position = index.position(of: sequenceNumber) else { return nil }
        let (number, offset) = position.quotientAndRemainder(dividingBy: MediaBlock.maximumPackets)
        guard number >= firstBlock + head else { return nil }
        let block = blocks[number - firstBlock]
        return (block, block.packets[offset])
    }

    mutating func removeAll() {
        for block in blocks[head...] { block.giveBack() }
        (firstBlock, blocks, head) = (firstBlock + blocks.count, [], 0)
    }

    static let period: Duration = .milliseconds(500)
    /// Half of what a publication has: the other half is for what is on its way.
    static let maximumBlocks = MediaBlockPool.maximumBlocks / 2
}
