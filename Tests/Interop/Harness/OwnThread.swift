import Dispatch
import Testing

/// Gives each test of a suite a thread of its own.
///
/// Swift Testing runs tests on the concurrency runtime's threads, of which there are as many as cores. A test that waits for
/// programs, sockets or media keeps its thread while it waits, so that on two cores two such tests are all that go on. With
/// threads of their own as many go on as the runner lets begin (`make test` says how many), and the cores stay busy.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(SerialThread()) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    /// The test waits for what others do: it has a thread of its own.
    static var ownThread: Self { Self() }
}

/// A serial queue: Dispatch makes a thread for each one that has work, however many wait already.
private final class SerialThread: TaskExecutor {
    private let queue = DispatchQueue(label: "stagedoor.test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
