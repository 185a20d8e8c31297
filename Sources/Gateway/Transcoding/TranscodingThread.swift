import EventLoop
import Settings

/// One transcoding thread: its loop, its mailbox, and the sessions that live on it.
final class TranscodingThread {
    private let index: Int
    private let loop: EventLoop
    private var mailbox: Mailbox<TranscodingPool.Message>?
    private var sessions: [UInt64: TranscodingSession] = [:]

    /// How many batches may wait: each of some tens of workers has at most 50 under way.
    private static let maximumBatches = 4_096

    init(index: Int) throws(SystemError) {
        self.index = index
        loop = try EventLoop()
        mailbox = try Mailbox(loop: loop, maximumMessages: Self.maximumBatches) { [unowned self] in receive($0) }
    }

    var sender: MailboxSender<TranscodingPool.Message> {
        mailbox!.sender  // set by init and kept
    }

    func run() { loop.run() }

    private func receive(_ message: TranscodingPool.Message) {
        switch message {
        case .batch(let frames, let reply): reply.send(transcode(frames))
        case .stop: loop.stop()
        }
    }

    private func transcode(_ frames: FrameBatch) -> PacketBatch {
        var packets = PacketBatch(thread: index, eventCount: frames.events.count)
        frames.bytes.withUnsafeBytes { bytes in
            for (stream, event) in frames.events {
                switch event {
                case .open(let config, let settings):
                    sessions[stream] = TranscodingSession(config, settings: settings)
                case .close: sessions[stream] = nil
                case .frame(let range, let mediaTime):
                    let frame = UnsafeRawBufferPointer(rebasing: bytes[range])
                    transcode(frame, mediaTime: mediaTime, of: stream, into: &packets)
                }
            }
        }
        return packets
    }

    /// A session that fails says so once and is gone; its further frames find none.
    private func transcode(
        _ frame: UnsafeRawBufferPointer, mediaTime: Int64, of stream: UInt64, into packets: inout PacketBatch
    ) {
        guard let session = sessions[stream] else { return }
        do throws(TranscodingError) {
            try session.transcode(frame, mediaTime: mediaTime, into: &packets.bytes) { range, mediaTime in
                packets.events.append((stream, .packet(range, mediaTime: mediaTime)))
            }
        } catch {
            packets.events.append((stream, .failed(error)))
            sessions[stream] = nil
        }
    }
}
