import EventLoop
import GatewayMetrics

/// What the thumbnailer's thread does. Confined to its loop.
final class ThumbnailThread {
    private let loop: EventLoop
    private let waiting: WaitingCount
    private let metrics: ThumbnailMetrics
    private let encoder: JPEGEncoder
    private var mailbox: Mailbox<Thumbnailer.Message>?

    init(_ waiting: WaitingCount, _ metrics: ThumbnailMetrics) throws(SystemError) {
        guard let encoder = JPEGEncoder() else { throw SystemError(call: "tjInitCompress", code: 12) }  // ENOMEM
        (self.waiting, self.metrics, self.encoder) = (waiting, metrics, encoder)
        loop = try EventLoop()
        mailbox = try Mailbox(loop: loop) { [unowned self] in receive($0) }
    }

    var sender: MailboxSender<Thumbnailer.Message> {
        mailbox!.sender  // set by init and kept
    }

    func run() { loop.run() }

    private func receive(_ message: Thumbnailer.Message) {
        switch message {
        case .keyframe(let unit, let then):
            let jpeg = KeyframeDecoder.decode(unit) { encoder.encode($0) }
            waiting.leave()
            (jpeg == nil ? metrics.failed : metrics.made).increment()
            then(jpeg)
        case .stop: loop.stop()
        }
    }
}
