import EventLoop
import STUN

/// Where all workers find the sessions of the media port: by ufrag for checks, by source for rebinding (docs/design.md 4.2).
final class TransportDirectory: Sendable {
    private let byUfrag = ShardedTable<LocalUfrag, any TransportEntry>()
    private let bySource = SourceTable()

    /// The session that a check with our `ufrag` belongs to.
    func entry(ufrag: LocalUfrag) -> (any TransportEntry)? { byUfrag[ufrag] }
    /// The sessions that have this media source.
    func entries(source: UInt32) -> [any TransportEntry] { bySource[source] }
    /// Those of them with which SRTP from a tuple without a check is tried this time (docs/design.md 4.4).
    func entriesToTry(source: UInt32) -> [any TransportEntry] { bySource.takeTurn(of: source) }

    func add(_ credentials: ICECredentials, for entry: any TransportEntry) { byUfrag[credentials.ufrag] = entry }
    func remove(_ credentials: [ICECredentials]) { for old in credentials { byUfrag[old.ufrag] = nil } }
    func add(source: UInt32, for entry: any TransportEntry) { bySource.add(source, for: entry) }

    func remove(sources: [UInt32], of entry: any TransportEntry) {
        for source in sources { bySource.remove(source, of: entry) }
    }
}

/// Sessions by the media sources they send, in 16 parts, each behind a mutex of its own. Sessions may share a number.
final class SourceTable: Sendable {
    /// Who sends from one source.
    private struct Senders {
        var entries: [any TransportEntry] = []
        /// Where the next turn begins.
        var next = 0

        mutating func takeTurn() -> [any TransportEntry] {
            guard entries.count > SourceTable.maximumAtOnce else { return entries }
            let first = next % entries.count
            next = first + SourceTable.maximumAtOnce
            return (first..<next).map { entries[$0 % entries.count] }
        }
    }

    private let shards = (0..<16).map { _ in Lock<[UInt32: Senders]>([:]) }

    subscript(source: UInt32) -> [any TransportEntry] { shard(source).withLock { $0[source]?.entries ?? [] } }

    /// At most `maximumAtOnce` of a source's sessions, the next ones each time: who copies a number keeps nobody from their turn.
    func takeTurn(of source: UInt32) -> [any TransportEntry] { shard(source).withLock { $0[source]?.takeTurn() ?? [] } }

    func add(_ source: UInt32, for entry: any TransportEntry) {
        shard(source).withLock { table in
            guard table[source]?.entries.contains(where: { $0 === entry }) != true else { return }
            table[source, default: Senders()].entries.append(entry)
        }
    }

    func remove(_ source: UInt32, of entry: any TransportEntry) {
        shard(source).withLock { table in
            table[source]?.entries.removeAll { $0 === entry }
            if table[source]?.entries.isEmpty == true { table[source] = nil }
        }
    }

    private func shard(_ source: UInt32) -> Lock<[UInt32: Senders]> { shards[Int(source & 15)] }

    /// Each costs a try of the packet, here or at another worker.
    static let maximumAtOnce = 16
}
