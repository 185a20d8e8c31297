import Sockets
import Wire

/// One track's way to its destination: runs of equal packets at once, long frames paced, what the socket refuses kept.
///
/// A frame of 64 packets and more goes in chunks of 16 spread over half a frame interval, within 8 ms. Frames that come all at
/// once, because the encoder's way was blocked for seconds, are spread so one behind the other: a receiver whose socket buffer
/// is the default one holds some 90 packets. What waits is copied into the worker's pool; the rate rises so that no queue lasts
/// beyond 100 ms, or 400 ms when it catches up; what a full socket keeps back for 500 ms is dropped.
final class SendQueue {
    let destination: SocketAddress
    private(set) var isBlocked = false
    /// Packets that a full socket kept back for too long, or when the track ended.
    var onDrop: (Int) -> Void = { _ in }
    /// Outlives its queues: it is a leg's socket, which the leg holds, and legs hold the queues.
    private unowned(unsafe) let output: any DatagramOutput
    /// Each packet with when it was queued.
    private let queue: PacketQueue<MonotonicTime>
    /// By when the queue is to be empty, and when it was drained last.
    private var deadline = MonotonicTime.zero
    private var drained = MonotonicTime.zero
    /// Packets of frames that are not long, since `recentStart`, which is `maximumSpread` ago at most.
    private var recentCount = 0
    private var recentStart = MonotonicTime.zero
    /// More came at once than a receiver takes; until the queue is empty.
    private var isCatchingUp = false
    private let batch: WireBatch

    /// - Parameter batch: scratch of the worker's for draining, not the one that `send` is given.
    init(output: any DatagramOutput, pool: PacketPool, scratch batch: WireBatch, destination: SocketAddress) {
        unsafe (self.output, self.batch, self.destination) = (output, batch, destination)
        queue = PacketQueue(pool: pool)
    }

    /// Sends the batch's packets, or keeps those whose time has not come.
    /// - Parameter spread: over how long a long frame may be spread; half a frame interval.
    func send(_ batch: WireBatch, spread: Duration, isLongFrame: Bool, at now: MonotonicTime) {
        let isPaced = isLongFrame || batch.count >= Self.pacingThreshold
        let room = isPaced ? Self.chunk : roomForFrame(of: batch.count, at: now)
        var sent = 0
        if queue.isEmpty, !isBlocked { sent = transmit(batch, upTo: min(room, batch.count)) }
        guard sent < batch.count else { return }
        if isBlocked { dropStale(at: now) }
        if queue.isEmpty { (drained, deadline) = (now, now) }
        for index in sent..<batch.count {
            let pieces = unsafe batch.pieces(of: index..<(index + 1))
            unsafe queue.append(pieces[0], pieces[1], note: now)
        }
        deadline = isCatchingUp ? max(deadline, now) + spread : max(deadline, now + spread)
        let limit = isCatchingUp ? Self.maximumCatchUp : Self.maximumBacklog
        if let oldest = queue.first?.note { deadline = min(deadline, oldest + limit) }
        if !isBlocked { unsafe output.pace(self) }
    }

    /// How much of a frame may go at once, after those that came just before it.
    private func roomForFrame(of count: Int, at now: MonotonicTime) -> Int {
        if now - recentStart >= Self.maximumSpread { (recentStart, recentCount) = (now, 0) }
        defer { recentCount += count }
        let room = max(0, Self.pacingThreshold - recentCount)
        if count > room { isCatchingUp = true }
        return room
    }

    /// Sends what is due; called every millisecond while `isPacing`, and when the socket is writable again.
    func drain(at now: MonotonicTime) {
        var quota = quota(at: now)
        if quota > 0 { drained = now }
        while quota > 0, !queue.isEmpty, !isBlocked {
            batch.removeAll()
            for index in 0..<min(quota, queue.count, WireBatch.capacity) { unsafe batch.append(whole: queue[index].bytes) }
            let sent = transmit(batch, upTo: batch.count)
            queue.removeFirst(sent)
            quota -= batch.count
        }
        if queue.isEmpty { isCatchingUp = false }
    }

    /// Whether `drain` has work that only time brings.
    var isPacing: Bool { !queue.isEmpty && !isBlocked }

    func writableAgain(at now: MonotonicTime) {
        dropStale(at: now)
        isBlocked = false
        deadline = now + Self.maximumSpread
        drain(at: now)
        if isPacing { unsafe output.pace(self) }
    }

    /// Nothing follows: what waits goes now, as far as the socket takes it.
    func end(at now: MonotonicTime) {
        deadline = now
        drain(at: now)
        if !queue.isEmpty { onDrop(queue.count) }
        queue.removeAll()
        isCatchingUp = false
    }

    /// Whole chunks, as many as the time since the last ones demands, of the time that was left then.
    private func quota(at now: MonotonicTime) -> Int {
        guard now < deadline else { return queue.count }
        let (passed, whole) = ((now - drained).nanoseconds, (deadline - drained).nanoseconds)
        let share = Int(Double(queue.count) * Double(passed) / Double(whole))
        return (share + Self.chunk / 2) / Self.chunk * Self.chunk
    }

    /// A full socket's alone: what is late because this thread was goes out.
    private func dropStale(at now: MonotonicTime) {
        var count = 0
        while count < queue.count, now - queue[count].note > Self.maximumAge { count += 1 }
        guard count > 0 else { return }
        onDrop(count)
        queue.removeFirst(count)
    }

    /// - Returns: how many packets are done with; fewer than asked when the socket is full.
    private func transmit(_ batch: WireBatch, upTo limit: Int) -> Int {
        var start = 0
        while start < limit {
            let end = batch.endOfRun(from: start, limit: limit)
            let result = unsafe output.sendRun(
                batch.pieces(of: start..<end), segmentSize: batch.byteCount(of: start), to: destination)
            start += result.count
            if result.outcome == .wouldBlock {
                isBlocked = true
                unsafe output.awaitWritable(self)
                return start
            }
        }
        return start
    }

    static let pacingThreshold = 64
    static let chunk = 16
    /// The last packet leaves within 8 ms: what is due is sent once a millisecond.
    static let maximumSpread = Duration.milliseconds(7)
    static let maximumBacklog = Duration.milliseconds(100)
    static let maximumCatchUp = Duration.milliseconds(400)
    static let maximumAge = Duration.milliseconds(500)
}

/// Where send queues put their datagrams: the worker's socket toward the routers, or a test's.
protocol DatagramOutput: AnyObject {
    /// Sends the pieces cut into datagrams of `segmentSize`, the last one shorter or not (`UDPSocket.sendRun`).
    func sendRun(
        _ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>, segmentSize: Int, to destination: SocketAddress
    ) -> RunOutcome
    /// Asks for `SendQueue.drain` when the socket is writable again.
    func awaitWritable(_ queue: SendQueue)
    /// Asks for `SendQueue.drain` every millisecond until it is empty.
    func pace(_ queue: SendQueue)
}
