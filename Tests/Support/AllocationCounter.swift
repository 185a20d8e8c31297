import Foundation
import Glibc
import Synchronization

/// Counts what the Swift runtime allocates on this thread, through the runtime's own hook for instruments.
public enum AllocationCounter {
    private typealias Allocate = @convention(c) (UnsafeRawPointer?, Int, Int) -> UnsafeMutableRawPointer?

    public struct Unavailable: Error {}

    /// The hook is the whole process': tests that run side by side count in turn.
    private static let turn = Mutex(())
    private static let counted = Atomic<Int>(0)
    private static let countingThread = Atomic<UInt>(0)
    private static let original = Atomic<UInt>(0)

    /// How many objects `body` allocates: classes, arrays' storage, boxes, escaping closures.
    public static func count(_ body: () throws -> Void) throws -> Int { try turn.withLock { _ in try countAlone(body) } }

    private static func countAlone(_ body: () throws -> Void) throws -> Int {
        try waitForOthersToSleep()
        let symbols = dlopen(nil, RTLD_NOW)
        guard let hook = dlsym(symbols, "_swift_allocObject"),
            let switchSymbol = dlsym(
                symbols, "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly")
        else { throw Unavailable() }
        let slot = hook.assumingMemoryBound(to: UInt.self)
        let isEnabled = switchSymbol.assumingMemoryBound(to: Bool.self)
        original.store(slot.pointee, ordering: .relaxed)
        counted.store(0, ordering: .relaxed)
        countingThread.store(UInt(pthread_self()), ordering: .relaxed)
        let counting: Allocate = { type, size, alignment in
            if AllocationCounter.countingThread.load(ordering: .relaxed) == UInt(pthread_self()) {
                AllocationCounter.counted.add(1, ordering: .relaxed)
            }
            let allocate = unsafeBitCast(AllocationCounter.original.load(ordering: .relaxed), to: Allocate.self)
            return allocate(type, size, alignment)
        }
        slot.pointee = unsafeBitCast(counting, to: UInt.self)
        isEnabled.pointee = true
        defer {
            isEnabled.pointee = false
            slot.pointee = original.load(ordering: .relaxed)
        }
        try body()
        return counted.load(ordering: .relaxed)
    }

    /// While the hook is in place the runtime retains in another way, and a thread that copies a string of 9 to 15 letters then ends
    /// the process: seen in the testing library, which has a suite's name in a task beside the test itself.
    private static func waitForOthersToSleep() throws {
        var quietLooks = 0
        // Where tests run side by side there is always one awake; at the latest then it is counted as it comes.
        for _ in 0..<2_000 where quietLooks < 3 {
            quietLooks = try areOthersAsleep() ? quietLooks + 1 : 0
            usleep(1_000)
        }
    }

    /// By the states that the kernel tells of this process' threads: `PID (name) STATE …`.
    private static func areOthersAsleep() throws -> Bool {
        let files = FileManager.default
        let own = try files.destinationOfSymbolicLink(atPath: "/proc/thread-self").split(separator: "/").last.map(String.init)
        return try files.contentsOfDirectory(atPath: "/proc/self/task").allSatisfy { thread in
            if thread == own { return true }
            let line = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8)
            return line?.split(separator: ")").last?.dropFirst().first != "R"
        }
    }
}
