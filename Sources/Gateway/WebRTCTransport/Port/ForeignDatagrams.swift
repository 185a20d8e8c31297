import GatewayMetrics

/// Datagrams that come to one worker and belong to another one's session: each goes through the ring of the two, and the other
/// one is woken once a batch. Confined to the loop.
final class ForeignDatagrams {
    private let context: TransportContext
    private let index: Int
    /// Workers that got datagrams from the batch at hand.
    private var wokenWorkers: Set<Int> = []

    /// - Parameter index: our worker's.
    init(_ context: TransportContext, of index: Int) { (self.context, self.index) = (context, index) }

    /// - Parameter isValidated: false for a packet that is only tried.
    func forward(_ datagram: ReceivedDatagram, of entry: any TransportEntry, isValidated: Bool, to worker: Int) {
        let (path, arrival) = (datagram.path, datagram.arrival)
        let ring = context.ring(from: index, to: worker)
        guard unsafe ring.push(datagram.bytes, of: entry, isValidated: isValidated, path: path, arrival: arrival) else {
            return context.metrics.foreignDropped.increment()
        }
        context.metrics.foreign.increment()
        wokenWorkers.insert(worker)
    }

    /// The batch at hand ends.
    func wakeWorkers() {
        for worker in wokenWorkers { context.send(.datagrams(from: index), to: worker) }
        wokenWorkers.removeAll(keepingCapacity: true)
    }

    /// Hands out what `worker` has forwarded to ours, where it lies.
    /// - Parameter flush: the last who reads those bytes.
    func take(
        from worker: Int, _ body: (UnsafeMutableRawBufferPointer, DatagramRing.Slot) -> Void, flush: () -> Void
    ) {
        let ring = context.ring(from: worker, to: index)
        unsafe ring.drain(body)
        flush()
        ring.release()
    }
}
