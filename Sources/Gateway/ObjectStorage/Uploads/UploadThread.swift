import EventLoop
import GatewayLogging
import Wire

/// What a thread of uploads does: carries out what the queue says. Confined to its loop.
final class UploadThread {
    private let loop: EventLoop
    private let line: UploadLine
    private let client: BucketClient
    private let lineElsewhere: (_ bucket: String) -> UploadLine?
    private var mailbox: Mailbox<Void>?
    private var queue = UploadQueue()
    private var uploads: [UInt64: Upload] = [:]
    private var lastID: UInt64 = 0
    private var timer: TimerWatch?
    /// By bucket: once a minute is enough.
    private var complaints: [String: Allowance] = [:]

    /// - Parameter lineElsewhere: of another thread that a bucket has by now.
    init(_ line: UploadLine, lineElsewhere: @escaping (_ bucket: String) -> UploadLine?) throws(SystemError) {
        (loop, self.line, self.lineElsewhere) = (try EventLoop(), line, lineElsewhere)
        client = BucketClient(loop: loop) { line.buckets }
        mailbox = try Mailbox(loop: loop) { [unowned self] in take() }
    }

    /// Wakes it for what is in its line.
    var sender: MailboxSender<Void> {
        mailbox!.sender  // set by init and kept
    }

    /// Until the line is closed.
    func run() {
        loop.run()
        interrupt()
    }

    private func take() {
        let (orders, isLast) = line.take()
        for order in orders {
            switch order {
            case .upload(let upload): add(upload)
            case .trial(let bucket, let reply): client.tryOut(bucket) { reply($0) }
            case .read(let key, let bucket, let reply): client.read(key, from: bucket) { reply($0) }
            }
        }
        if isLast { loop.stop() } else { advance() }
    }

    private func add(_ upload: Upload) {
        lastID += 1
        uploads[lastID] = upload
        if queue.add(UploadQueue.Item(id: lastID, bucket: upload.bucket, isBucketProven: upload.isBucketProven)) { return }
        finish(lastID, .failed("too many objects wait for their buckets"))
    }

    private func advance() {
        for item in queue.due(at: loop.now) { start(item) }
        timer?.cancel()
        timer = nil
        if let next = queue.nextAttempt {
            timer = loop.schedule(after: max(.milliseconds(1), next - loop.now)) { [unowned self] in advance() }
        }
    }

    private func start(_ item: UploadQueue.Item) {
        guard let upload = uploads[item.id] else { return }
        if let line = lineElsewhere(upload.bucket) {
            queue.withdraw(item.id)
            uploads[item.id] = nil
            return line.add(.upload(upload))
        }
        guard upload.isWanted() else {
            queue.withdraw(item.id)
            return finish(item.id, .interrupted)
        }
        client.put(upload.object, into: upload.bucket) { [unowned self] fault in
            // A folder answers at once: `advance` comes again from the loop, not from inside itself.
            let result = queue.finished(item.id, fault, at: loop.now)
            if let fault { complain(upload, fault, isOver: result != nil) }
            if let result { finish(item.id, result) }
            schedule()
        }
    }

    private func schedule() {
        timer?.cancel()
        timer = loop.schedule(after: .zero) { [unowned self] in advance() }
    }

    private func finish(_ id: UInt64, _ result: UploadResult) {
        guard let upload = uploads.removeValue(forKey: id) else { return }
        upload.done(result)
    }

    private func complain(_ upload: Upload, _ fault: StorageFault, isOver: Bool) {
        guard complaints[upload.bucket, default: Allowance(1, then: .seconds(60))].take(at: loop.now) else { return }
        Log.event(
            isOver ? .error : .warning, "upload_failed",
            [
                "bucket": .string(upload.bucket), "key": .string(upload.object.key), "because": .string(fault.words),
                "again": .bool(!isOver), "waiting": .integer(queue.count),
            ])
    }

    /// The process ends: files stay where they are.
    private func interrupt() {
        for id in uploads.keys { finish(id, .interrupted) }
        line.take().orders.forEach { $0.refuse() }
    }
}
