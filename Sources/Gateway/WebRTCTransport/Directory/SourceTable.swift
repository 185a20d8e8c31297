import EventLoop

/// Sessions by the media sources they send, in 16 parts, each behind a mutex of its own. Sessions may share a number.
final class SourceTable: Sendable {
    /// Of sessions with the same number the latest so many are found.
    static let maximumPerSource = 16

    private let shards = (0..<16).map { _ in Lock<[UInt32: [any TransportEntry]]>([:]) }

    subscript(source: UInt32) -> [any TransportEntry] { shard(source).withLock { $0[source] ?? [] } }

    func add(_ source: UInt32, for entry: any TransportEntry) {
        shard(source).withLock { table in
            var entries = table[source, default: []].filter { $0 !== entry }
            if entries.count >= Self.maximumPerSource { entries.removeFirst() }
            table[source] = entries + [entry]
        }
    }

    func remove(_ source: UInt32, of entry: any TransportEntry) {
        shard(source).withLock { table in
            let left = table[source, default: []].filter { $0 !== entry }
            table[source] = left.isEmpty ? nil : left
        }
    }

    private func shard(_ source: UInt32) -> Lock<[UInt32: [any TransportEntry]]> { shards[Int(source & 15)] }
}
