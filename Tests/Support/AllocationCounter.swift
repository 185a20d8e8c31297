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
}
