public import AAC
public import EventLoop
public import Settings
import Wire

/// A worker's way to the transcoding threads: collects the frames of all its streams and hands them over together.
///
/// Confined to its loop. Each thread is woken at most once in 20 ms by a worker, however many streams that has: a wake-up
/// costs as much as ten packets, here and on the way back. A single stream's frames, 21 ms apart, go at once.
public final class AudioTranscoder {
    /// The least time between two batches to one thread: as long as an Opus packet.
    static let batchInterval = Duration.milliseconds(20)
    /// Batches handed over and not answered: beyond them, half a second, frames are dropped and counted.
    static let maximumBatchesUnderWay = 25
    /// Bytes that may wait for the next batch.
    static let maximumPendingByteCount = 1 << 20

    fileprivate let loop: EventLoop
    fileprivate let pool: TranscodingPool
    private let settings: TranscodingSettings
    /// The thread that has most of this worker's streams.
    private let home: Int
    private var mailbox: Mailbox<PacketBatch>?
    private var lanes: [Lane]
    private var receivers: [UInt64: (TranscodedAudio) -> Void] = [:]

    private struct Lane {
        var pending = FrameBatch()
        var underWayCount = 0
        var lastHandOver = MonotonicTime.zero
        var timer: TimerWatch?
        var isTimerSet = false
    }

    /// - Throws: when the kernel gives no more descriptors.
    public init(loop: EventLoop, pool: TranscodingPool, settings: TranscodingSettings = TranscodingSettings()) throws(SystemError)
    {
        (self.loop, self.pool, self.settings) = (loop, pool, settings)
        home = pool.makeHome()
        lanes = pool.senders.map { _ in Lane() }
        mailbox = try Mailbox(loop: loop, priority: .media) { [unowned self] in receive($0) }
    }

    /// Opens a stream; its codecs take memory from its first frame on until it is closed or dropped.
    /// - Parameters:
    ///   - allowance: of the publish, where it may have opened others before.
    ///   - receive: called on this loop with each packet in order.
    public func open(
        _ config: AudioSpecificConfig, allowance: FrameAllowance = FrameAllowance(),
        receive: @escaping (TranscodedAudio) -> Void
    ) -> TranscodingStream {
        open(.open(config, settings), allowance, receive)
    }

    /// Opens a stream of Opus packets, of which AAC-LC at 48 kHz comes back: a frame of 1,024 samples each time.
    /// - Parameter receive: called on this loop with each frame in order.
    public func openOpus(
        isStereo: Bool, receive: @escaping (TranscodedAudio) -> Void
    ) -> TranscodingStream {
        open(.openOpus(channelCount: isStereo ? 2 : 1), FrameAllowance(), receive)
    }

    private func open(
        _ event: FrameBatch.Event, _ allowance: FrameAllowance, _ receive: @escaping (TranscodedAudio) -> Void
    ) -> TranscodingStream {
        loop.assertOnLoop()
        allowance.opened(at: loop.now)
        let (id, lane) = pool.makeStream(home: home)
        receivers[id] = receive
        lanes[lane].pending.events.append((id, event))
        return TranscodingStream(id: id, lane: lane, transcoder: self, allowance)
    }

    func submit(_ frame: UnsafeRawBufferPointer, mediaTime: Int64, of stream: UInt64, lane: Int) {
        loop.assertOnLoop()
        guard lanes[lane].underWayCount < Self.maximumBatchesUnderWay,
            lanes[lane].pending.bytes.count + frame.count <= Self.maximumPendingByteCount
        else { return pool.countDropped(1) }
        unsafe lanes[lane].pending.append(frame, mediaTime: mediaTime, of: stream)
        handOverSoon(lane)
    }

    func close(_ stream: UInt64, lane: Int) {
        receivers[stream] = nil
        pool.streamClosed(on: lane)
        lanes[lane].pending.events.append((stream, .close))
        handOverSoon(lane)
    }

    private func handOverSoon(_ lane: Int) {
        guard !lanes[lane].isTimerSet else { return }
        let wait = Self.batchInterval - (loop.now - lanes[lane].lastHandOver)
        guard wait > .zero else { return handOver(lane) }
        lanes[lane].isTimerSet = true
        if let timer = lanes[lane].timer { return timer.rearm(after: wait) }
        lanes[lane].timer = loop.schedule(after: wait) { [unowned self] in
            lanes[lane].isTimerSet = false
            handOver(lane)
        }
    }

    private func handOver(_ lane: Int) {
        // With too many under way the rest waits for an answer, which calls here again.
        guard let reply = mailbox?.sender, !lanes[lane].pending.events.isEmpty,
            lanes[lane].underWayCount < Self.maximumBatchesUnderWay
        else { return }
        let batch = lanes[lane].pending
        lanes[lane].pending = FrameBatch(asRoomyAs: batch)
        lanes[lane].lastHandOver = loop.now
        if pool.senders[lane].send(.batch(batch, reply: reply)) {
            lanes[lane].underWayCount += 1
        } else {
            refused(batch, lane)
        }
    }

    /// The thread's box is full: frames are lost, openings and closings are not.
    private func refused(_ batch: FrameBatch, _ lane: Int) {
        lanes[lane].pending.events = batch.events.filter { if case .frame = $0.event { false } else { true } }
        pool.countDropped(batch.events.count - lanes[lane].pending.events.count)
    }

    private func receive(_ batch: PacketBatch) {
        lanes[batch.thread].underWayCount -= 1
        unsafe batch.bytes.withUnsafeBytes { bytes in
            for (stream, event) in batch.events {
                guard let receiver = receivers[stream] else { continue }
                switch event {
                case .packet(let range, let mediaTime):
                    unsafe receiver(.packet(UnsafeRawBufferPointer(rebasing: bytes[range]), mediaTime: mediaTime))
                case .failed(let error): receiver(.failed(error))
                }
            }
        }
        if !lanes[batch.thread].pending.events.isEmpty { handOverSoon(batch.thread) }
    }
}

extension AudioSpecificConfig {
    /// Whether Opus of it has two channels: of more the first two are taken, and it may name none.
    public var isStereoInOpus: Bool { channelCount != 1 }
}

/// What comes back for a stream.
@safe public enum TranscodedAudio {
    /// One Opus packet of 20 ms, or one AAC frame, valid until the call returns, and its time in unwrapped ticks of 48 kHz.
    case packet(UnsafeRawBufferPointer, mediaTime: Int64)
    /// Nothing more will come of this stream.
    case failed(TranscodingError)
}

/// One stream on its way through a transcoding thread. Confined to its transcoder's loop; dropping it closes it, and nothing more
/// is received.
public final class TranscodingStream {
    private let id: UInt64
    private let lane: Int
    private let transcoder: AudioTranscoder
    private let allowance: FrameAllowance

    init(id: UInt64, lane: Int, transcoder: AudioTranscoder, _ allowance: FrameAllowance) {
        (self.id, self.lane, self.transcoder, self.allowance) = (id, lane, transcoder, allowance)
    }

    deinit { transcoder.close(id, lane: lane) }

    /// Hands over one raw AAC frame, or one Opus packet, which is copied; those that come faster than they can be heard are
    /// dropped and counted.
    /// - Parameter mediaTime: of its first sample, in unwrapped ticks of 48 kHz (48 times RTMP's milliseconds).
    public func submit(_ frame: UnsafeRawBufferPointer, mediaTime: Int64) {
        guard allowance.take(at: transcoder.loop.now) else { return transcoder.pool.countDropped(1) }
        unsafe transcoder.submit(frame, mediaTime: mediaTime, of: id, lane: lane)
    }
}
