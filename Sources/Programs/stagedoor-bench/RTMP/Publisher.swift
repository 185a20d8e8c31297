import EventLoop
import Wire

/// Sends a file's tags over one connection in real time, again and again.
final class Publisher {
    struct Plan {
        var file: FLVFile
        /// Video bodies with room for a latency mark, or as they are.
        var bodies: [[UInt8]]
        var isMarked: Bool
        /// Milliseconds added to every timestamp.
        var firstTimestamp: Int
        var repeatsExtendedTimestamp: Bool
        /// Media seconds sent for each second of time.
        var speed: Double
        var rests: [LayerRest]
        /// For so long: media of this time is sent whole, also by a machine that is late.
        var seconds: Double
    }

    private(set) var sentMessages = 0
    private(set) var sentBytes = 0
    /// When the server ended the connection.
    private(set) var endedAt: MonotonicTime?
    /// All media has been sent, or the server has ended the connection.
    var onDone: () -> Void = {}
    var isDone: Bool { endedAt != nil || isAtEnd && client.waitingByteCount == 0 }

    private let plan: Plan
    private let client: RTMPClient
    private let loop: EventLoop
    private let chunks: MessageChunks
    private let startedAt: MonotonicTime
    /// Seconds since then.
    private let limit: Double
    private var isAtEnd = false
    private var next = 0
    private var repetition = 0
    private var rests: LayerRests
    private var timer: Watch?
    private var reading: Watch?
    private var retry: Watch?

    init(plan: Plan, client: RTMPClient, loop: EventLoop, delay: Duration) {
        (self.plan, self.client, self.loop, rests) = (plan, client, loop, LayerRests(plan.rests))
        chunks = MessageChunks(repeatsExtendedTimestamp: plan.repeatsExtendedTimestamp, messageStreamID: client.messageStreamID)
        startedAt = loop.now.advanced(by: delay)
        limit = plan.seconds - delay.inSeconds
        _ = client.send(MessageChunks.setChunkSize)
        reading = loop.watch(descriptor: client.descriptor, for: .read, priority: .normal) { [unowned self] in
            if !client.drain() { end() }
        }
        timer = loop.schedule(after: delay) { [unowned self] in step() }
    }

    func stop(_ ending: RTMPClient.Ending) {
        timer = nil
        reading = nil
        retry = nil
        if ending == .rst { client.reset() }
    }

    /// Sends every tag that is due, and sleeps until the next one is.
    private func step() {
        guard endedAt == nil else { return }
        var output: [UInt8] = []
        var wait = 0.0
        while true {
            let tag = plan.file.tags[next]
            let seconds = Double(tag.timestamp + repetition * plan.file.duration) / 1_000
            wait = seconds / plan.speed - (loop.now - startedAt).inSeconds
            isAtEnd = seconds / plan.speed >= limit
            if isAtEnd || wait > 0 { break }
            if isSent(tag, at: seconds) { append(tag, to: &output) }
            next += 1
            if next == plan.file.tags.count { (next, repetition) = (0, repetition + 1) }
        }
        sentBytes += output.count
        if !client.send(output) { return end() }
        if client.waitingByteCount > 0 { retryLater() }
        if isDone { onDone() }
        if isAtEnd { return }
        timer = loop.schedule(after: .seconds(wait)) { [unowned self] in step() }
    }

    /// Codec configuration is sent once; a layer that rests sends no more than that.
    private func isSent(_ tag: FLVFile.Tag, at seconds: Double) -> Bool {
        guard !tag.isSequenceHeader else { return repetition == 0 }
        return tag.kind != .video || !rests.hold(tag.track, startsKeyframe: tag.isKeyframe, at: seconds)
    }

    private func append(_ tag: FLVFile.Tag, to output: inout [UInt8]) {
        var body = plan.bodies[next]
        if plan.isMarked && tag.takesMark {
            LatencyMark.stamp(EventLoop.monotonicNow().nanoseconds, into: &body)
        }
        let timestamp = plan.firstTimestamp + tag.timestamp + repetition * plan.file.duration
        chunks.append(tag, body: body, timestamp: timestamp, to: &output)
        sentMessages += 1
    }

    private func retryLater() {
        retry = loop.watch(descriptor: client.descriptor, for: .write, priority: .normal) { [unowned self] in
            if !client.flush() { return end() }
            if client.waitingByteCount > 0 { return }
            if isDone { onDone() }
            retry = nil
        }
    }

    private func end() {
        endedAt = loop.now
        stop(.fin)
        onDone()
    }
}

/// Cuts RTMP messages into chunks (RTMP 1.0 §5.3): a type-0 header, then type-3 ones.
struct MessageChunks {
    /// OBS's chunk size.
    static let chunkSize = 4_096
    /// From here on the timestamp stands behind the message header (§5.3.1.3).
    static let extendedTimestamp = 0xFF_FFFF

    /// Whether type-3 chunks repeat the extended timestamp: Adobe's servers and ffmpeg do, some encoders do not.
    var repeatsExtendedTimestamp = true
    var messageStreamID: UInt32 = 1

    /// Set Chunk Size (§5.4.1), to be written before anything that uses the size.
    static let setChunkSize: [UInt8] = [2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, UInt8(chunkSize >> 8), UInt8(chunkSize & 0xFF)]

    /// Appends the chunks of one message; `timestamp` is in milliseconds and wraps at 32 bits.
    func append(_ tag: FLVFile.Tag, body: [UInt8], timestamp: Int, to output: inout [UInt8]) {
        let chunkStreamID: UInt8 = tag.kind == .audio ? 4 : tag.kind == .video ? 6 : 5
        let wrapped = UInt32(truncatingIfNeeded: timestamp)
        let isExtended = wrapped >= Self.extendedTimestamp
        let extended = isExtended ? Self.bigEndian(wrapped, 4) : []
        output.append(chunkStreamID)
        output += Self.bigEndian(isExtended ? UInt32(Self.extendedTimestamp) : wrapped, 3)
        output += Self.bigEndian(UInt32(body.count), 3)
        output.append(tag.kind.rawValue)
        output += [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: messageStreamID >> $0) }
        output += extended
        var start = 0
        while start < body.count {
            let end = min(body.count, start + Self.chunkSize)
            output += body[start..<end]
            start = end
            guard start < body.count else { break }
            output.append(0xC0 | chunkStreamID)
            if repeatsExtendedTimestamp { output += extended }
        }
    }

    private static func bigEndian(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
