import Foundation

/// How often this thread has asked for memory, as a preloaded library counts it (Tests/Interop/Clients/allocation_count.c).
///
/// A program cannot see its own calls of `malloc` otherwise: the Swift runtime's hooks know of objects alone.
struct AllocationCount {
    private typealias Count = @convention(c) () -> UInt64

    private let count: Count

    /// Nil when the library is not preloaded.
    init?() {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "stagedoor_allocation_count") else { return nil }
        count = unsafeBitCast(symbol, to: Count.self)
    }

    var current: Int { Int(count()) }
}
