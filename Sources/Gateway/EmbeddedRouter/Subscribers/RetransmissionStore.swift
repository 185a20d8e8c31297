import Wire

/// The blocks of one publication's video that went to the subscribers of one worker, for half a second: NACKs of all of them are
/// answered from the one plain copy, each by RTX under its own source and number (RFC 4588).
struct RetransmissionStore {
    private var blocks: [MediaBlock] = []
    private var head = 0

    /// Takes over a block that the worker has sent; gives back those that are too old or too many.
    mutating func keep(_ block: MediaBlock) {
        blocks.append(block)
        let oldest = block.arrival - Self.period
        while head < blocks.count, blocks.count - head > Self.maximumBlocks || blocks[head].arrival < oldest {
            blocks[head].giveBack()
            head += 1
        }
        // The front is cut off at times, not at each block.
        guard head >= Self.maximumBlocks else { return }
        blocks.removeSubrange(..<head)
        head = 0
    }

    /// The packet with the publisher's `sequenceNumber`; nil when it is kept no longer or never came.
    func find(_ sequenceNumber: Int64) -> (block: MediaBlock, packet: MediaBlock.Packet)? {
        for index in stride(from: blocks.count - 1, through: head, by: -1) {
            let block = blocks[index]
            if let packet = block.packets.first(where: { $0.sequenceNumber == sequenceNumber }) { return (block, packet) }
        }
        return nil
    }

    mutating func removeAll() {
        for block in blocks[head...] { block.giveBack() }
        (blocks, head) = ([], 0)
    }

    static let period: Duration = .milliseconds(500)
    /// Half of what a publication has: the other half is for what is on its way.
    static let maximumBlocks = MediaBlockPool.maximumBlocks / 2
}
