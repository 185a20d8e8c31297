public import EventLoop
import GatewayLogging
public import Settings
import Wire

/// The threads that bring objects into their buckets: one for all stores, and one for each folder, whose disk may hang. Whoever
/// hands an object over never waits.
public final class Uploads: Sendable {
    /// What a read may take: the longest object, from the slowest store.
    public static let longestRead = S3Bucket.deadline(ofLength: BucketClient.maximumReadLength)

    private struct Uploader: Sendable {
        let line: UploadLine
        let thread: WorkerThread

        /// - Parameter folders: what is theirs is handed on to them.
        init(_ buckets: [String: StorageSettings], besides folders: Lock<[String: Uploader]>? = nil) throws(SystemError) {
            let line = UploadLine(buckets)
            let sender: MailboxSender<Void>
            (thread, sender) = try WorkerThread.startServing(name: "uploads") { () throws(SystemError) in
                let thread = try UploadThread(line) { bucket in folders?.withLock { $0[bucket]?.line } }
                return (thread.sender, thread.run)
            }
            line.opened(sender)
            self.line = line
        }
    }

    private let metrics: UploadMetrics
    private let stores: Uploader
    /// By bucket: those that the configuration file names, or did.
    private let folders = Lock<[String: Uploader]>([:])

    /// - Throws: when the system gives no more threads or descriptors.
    public init(_ buckets: [String: StorageSettings], metrics: UploadMetrics) throws(SystemError) {
        self.metrics = metrics
        stores = try Uploader(buckets, besides: folders)
        apply(buckets)
    }

    deinit { stop() }

    /// Puts other buckets into force, for the requests that come from now on. By one thread at a time.
    public func apply(_ buckets: [String: StorageSettings]) {
        var known = folders.withLock { $0 }
        for (name, settings) in buckets where !settings.directory.isEmpty {
            let bucket = settings.bucket.isEmpty ? name : settings.bucket
            // Where the system gives no more threads or descriptors, the stores' thread has it.
            if known[bucket] == nil { known[bucket] = try? Uploader(buckets) }
        }
        folders.withLock { [known] in $0 = known }
        for uploader in known.values + [stores] { uploader.line.apply(buckets) }
    }

    /// Whether the configuration file names that bucket.
    public func knows(_ bucket: String) -> Bool { stores.line.buckets.bucket(bucket) != nil }

    public func add(_ upload: Upload) {
        metrics.began()
        var counted = upload
        counted.done = { [metrics] result in
            metrics.ended(result)
            upload.done(result)
        }
        line(of: upload.bucket).add(.upload(counted))
    }

    /// Tries whether a bucket can be written to.
    /// - Parameter reply: called once, on any thread; nil when it can.
    public func tryOut(_ bucket: String, reply: @escaping @Sendable (StorageFault?) -> Void) {
        line(of: bucket).add(.trial(bucket: bucket, reply: reply))
    }

    /// Reads an object of at most `BucketClient.maximumReadLength` bytes.
    /// - Parameter reply: called once, on any thread.
    public func read(
        _ key: String, from bucket: String, reply: @escaping @Sendable (Result<[UInt8], StorageFault>) -> Void
    ) {
        line(of: bucket).add(.read(key: key, bucket: bucket, reply: reply))
    }

    /// Ends the threads; what no bucket has yet is interrupted. A disk that hangs is waited for a short while.
    public func stop() {
        let folders = folders.withLock { $0 }
        for uploader in folders.values + [stores] { uploader.line.close() }
        let deadline = EventLoop.monotonicNow() + Self.longestStop
        for (bucket, folder) in folders where !folder.thread.join(until: deadline) {
            Log.event(.warning, "folder_hangs", ["bucket": .string(bucket)])
        }
        stores.thread.join()
    }

    private func line(of bucket: String) -> UploadLine { folders.withLock { $0[bucket]?.line } ?? stores.line }

    /// Recordings have waited for their buckets before.
    private static let longestStop = Duration.seconds(2)
}

/// The line in front of one thread, from any other one.
final class UploadLine: Sendable {
    enum Order: Sendable {
        case upload(Upload)
        case trial(bucket: String, reply: @Sendable (StorageFault?) -> Void)
        case read(key: String, bucket: String, reply: @Sendable (Result<[UInt8], StorageFault>) -> Void)

        func refuse() {
            switch self {
            case .upload(let upload): upload.done(.interrupted)
            case .trial(_, let reply): reply(.transient("the gateway is stopping"))
            case .read(_, _, let reply): reply(.failure(.transient("the gateway is stopping")))
            }
        }
    }

    private struct Line {
        var buckets: [String: StorageSettings]
        var orders: [Order] = []
        var wake: MailboxSender<Void>?
        var isClosed = false
    }

    private let line: Lock<Line>

    init(_ buckets: [String: StorageSettings]) { line = Lock(Line(buckets: buckets)) }

    var buckets: [String: StorageSettings] { line.withLock { $0.buckets } }

    func apply(_ buckets: [String: StorageSettings]) { line.withLock { $0.buckets = buckets } }

    func add(_ order: Order) {
        let (isTaken, wake) = line.withLock { line in
            if !line.isClosed { line.orders.append(order) }
            return (!line.isClosed, line.wake)
        }
        if isTaken { wake?.send(()) } else { order.refuse() }
    }

    func close() {
        let wake = line.withLock { line in
            line.isClosed = true
            return line.wake
        }
        wake?.send(())
    }

    /// All that waits, in its order, and whether that was the last of it.
    func take() -> (orders: [Order], isLast: Bool) {
        line.withLock { line in
            defer { line.orders = [] }
            return (line.orders, line.isClosed)
        }
    }

    /// The thread has a loop that can be woken.
    func opened(_ sender: MailboxSender<Void>) { line.withLock { $0.wake = sender } }
}
