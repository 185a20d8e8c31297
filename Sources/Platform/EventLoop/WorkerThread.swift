import CShim
import Glibc
public import Wire

/// One thread of the operating system. Its body receives Sendable values only and builds everything else on its own thread.
public final class WorkerThread: Sendable {
    /// Room for OpenSSL, libavcodec and deep but bounded parsers; the kernel commits pages only as they are touched.
    private static let stackBytes = 1 << 20

    private let handle: Lock<pthread_t?>

    private init(handle: pthread_t) { self.handle = Lock(handle) }

    /// Starts a thread named `name` (the kernel keeps 15 bytes).
    /// - Throws: when the kernel refuses another thread.
    public static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> WorkerThread {
        let start = unsafe Unmanaged.passRetained(ThreadStart(name: name, body: body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stackBytes)
        var handle = pthread_t()
        let status = unsafe pthread_create(&handle, &attributes, threadMain, start.toOpaque())
        guard status == 0 else {
            unsafe start.release()
            throw SystemError(call: "pthread_create", code: status)
        }
        return WorkerThread(handle: handle)
    }

    /// Waits until the body has returned. The second call returns at once.
    public func join() {
        guard let handle = handle.withLock({ $0.take() }) else { return }
        pthread_join(handle, nil)
    }

    /// Waits until the body has returned, but not beyond that moment; then nobody can wait for it any more.
    /// - Returns: whether it has returned; true, too, where somebody has waited for it before.
    public func join(until deadline: MonotonicTime) -> Bool {
        guard let handle = handle.withLock({ $0.take() }) else { return true }
        if shim_join_until(handle, deadline.nanoseconds) == 0 { return true }
        pthread_detach(handle)
        return false
    }

    deinit {
        if let handle = handle.withLock({ $0.take() }) { pthread_detach(handle) }
    }
}

extension WorkerThread {
    /// Starts a thread that serves others by a mailbox, and waits until they can reach it.
    ///
    ///     (thread, sender) = try WorkerThread.startServing(name: "thumbnails") { () throws(SystemError) in
    ///         let thread = try ThumbnailThread()
    ///         return (thread.sender, thread.run)
    ///     }
    /// - Parameter prepare: makes, on the new thread, what lives there; the thread then does what it returns.
    /// - Throws: what `prepare` throws, or when the system gives no more threads or descriptors.
    public static func startServing<Message: Sendable>(
        name: String, _ prepare: @escaping @Sendable () throws(SystemError) -> (MailboxSender<Message>, () -> Void)
    ) throws(SystemError) -> (thread: WorkerThread, sender: MailboxSender<Message>) {
        let loop = try EventLoop()
        var answer: Result<MailboxSender<Message>, SystemError>?
        let mailbox = try Mailbox<Result<MailboxSender<Message>, SystemError>>(loop: loop) { answer = $0 }
        let thread = try start(name: name) { [reply = mailbox.sender] in
            do throws(SystemError) {
                let (sender, run) = try prepare()
                reply.send(.success(sender))
                run()
            } catch {
                reply.send(.failure(error))
            }
        }
        withExtendedLifetime(mailbox) {
            while answer == nil { _ = loop.run(until: { answer != nil }, within: .seconds(1)) }
        }
        return (thread, try answer!.get())  // the loop above ends with it
    }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
}

private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let start = unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    unsafe shim_set_thread_name(start.name)
    start.body()
    return nil
}
