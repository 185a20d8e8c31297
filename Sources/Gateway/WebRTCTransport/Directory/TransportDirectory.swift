import EventLoop
import STUN

/// Where all workers find the sessions of the media port: by ufrag for checks, by source for rebinding (docs/design.md 4.2).
final class TransportDirectory: Sendable {
    private let byUfrag = ShardedTable<LocalUfrag, any TransportEntry>()
    private let bySource = SourceTable()

    /// The session that a check with our `ufrag` belongs to.
    func entry(ufrag: LocalUfrag) -> (any TransportEntry)? { byUfrag[ufrag] }
    /// The sessions that have this media source, for SRTP from tuples without a check (docs/design.md 4.4).
    func entries(source: UInt32) -> [any TransportEntry] { bySource[source] }

    func add(_ credentials: ICECredentials, for entry: any TransportEntry) { byUfrag[credentials.ufrag] = entry }
    func remove(_ credentials: [ICECredentials]) { for old in credentials { byUfrag[old.ufrag] = nil } }
    func add(source: UInt32, for entry: any TransportEntry) { bySource.add(source, for: entry) }

    func remove(sources: [UInt32], of entry: any TransportEntry) {
        for source in sources { bySource.remove(source, of: entry) }
    }
}

/// Sessions by the media sources they send, in 16 parts, each behind a mutex of its own. Sessions may share a number.
final class SourceTable: Sendable {
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

    /// Of more sessions with the same number only the latest are found.
    static let maximumPerSource = 16
}
