import EventLoop

/// Whom a subscriber watches.
struct WatchedKey: Hashable, Sendable {
    var stageID: String
    var participantID: String
}

/// A publication that can be subscribed to, as all workers see it.
struct LiveTap: Sendable, Equatable {
    /// Of this publish: a takeover has another one.
    var number: UInt64
    var key: WatchedKey
    /// The index of the worker that owns the publication.
    var worker: Int
}

/// Where workers find publications by participant. Only beginnings, ends and look-ups of subscribers touch its lock.
final class TapDirectory: Sendable {
    private let taps = Lock<[WatchedKey: LiveTap]>([:])

    subscript(key: WatchedKey) -> LiveTap? { taps.withLock { $0[key] } }

    func add(_ tap: LiveTap) { taps.withLock { $0[tap.key] = tap } }

    /// Removes the publication, unless a later one has taken its place.
    func remove(_ tap: LiveTap) { taps.withLock { if $0[tap.key] == tap { $0[tap.key] = nil } } }
}
