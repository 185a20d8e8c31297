import EventLoop
import TestSupport
import Wire

@testable import Store

extension EmbeddedLeases {
    /// Leases by a clock of the test's, over a store in a directory of its own that has `stage`.
    static func bench(
        _ stage: Stage, _ clock: Lock<WallTime>
    ) async throws -> (directory: TemporaryDirectory, store: EmbeddedStore, leases: EmbeddedLeases) {
        let directory = try TemporaryDirectory()
        let store = try EmbeddedStore(directory: directory.path)
        try await store.write { $0.put(stage) }
        return (directory, store, EmbeddedLeases(store: store, wallNow: { clock.withLock { $0 } }))
    }
}
