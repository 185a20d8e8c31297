/// What is remembered of many sources (addresses, tokens, participants), each for a time: bounded, shrinking by time alone, and
/// never shut to newcomers.
///
/// Two generations. What is asked for moves to the younger one; when that is a lifetime old, or half of what may be kept, the
/// older one goes. So an entry stays for one to two lifetimes after its last use, a flood of newcomers displaces what was used
/// longest ago, and each call costs the same however many entries there are.
///
/// Inlinable where it is asked and told: a table of unknown types, through which every key is
/// hashed, takes several times as long.
///
///     var failures = FadingTable<IPNetwork, Int>(maximumCount: 4_096, lifetime: .seconds(60))
///     failures.set((failures.value(of: network, at: now) ?? 0) + 1, for: network, at: now)
public struct FadingTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Entries kept at most, of both generations.
    public let maximumCount: Int
    /// How long an entry is remembered at least while there is room.
    public let lifetime: Duration
    @usableFromInline let isInUse: @Sendable (Value) -> Bool
    @usableFromInline var younger: [Key: Value] = [:]
    @usableFromInline var older: [Key: Value] = [:]
    @usableFromInline var youngerSince = MonotonicTime.zero

    /// - Parameter isInUse: an entry that does not age, as one whose handshake is under way. When entries in use alone fill the
    ///   table, some of them go like the others.
    public init(
        maximumCount: Int, lifetime: Duration, isInUse: @escaping @Sendable (Value) -> Bool = { _ in false }
    ) {
        precondition(maximumCount >= 4 && lifetime > .zero, "a table of sources keeps something for some time")
        (self.maximumCount, self.lifetime, self.isInUse) = (maximumCount, lifetime, isInUse)
    }

    /// What is remembered now.
    public mutating func count(at now: MonotonicTime) -> Int {
        age(to: now)
        return younger.count + older.count
    }

    /// Of what is remembered, in no order.
    public var keys: [Key] { Array(younger.keys) + older.keys }

    /// What is remembered of `key`, and from now on for another lifetime.
    @inlinable
    public mutating func value(of key: Key, at now: MonotonicTime) -> Value? {
        age(to: now)
        if let value = younger[key] { return value }
        guard let value = older.removeValue(forKey: key) else { return nil }
        insert(value, for: key)
        return value
    }

    /// What is remembered of `key`, which ages as if nobody had asked.
    @inlinable
    public func glimpse(of key: Key) -> Value? { younger[key] ?? older[key] }

    /// Remembers `value`, or with nil forgets `key`.
    @inlinable
    public mutating func set(_ value: Value?, for key: Key, at now: MonotonicTime) {
        age(to: now)
        older[key] = nil
        guard let value else { return younger[key] = nil }
        insert(value, for: key)
    }

    @inlinable
    mutating func insert(_ value: Value, for key: Key) {
        if younger[key] == nil, younger.count >= maximumCount / 2 { turn() }
        younger[key] = value
    }

    @inlinable
    mutating func age(to now: MonotonicTime) {
        let lifetimes = (now - youngerSince).nanoseconds / lifetime.nanoseconds
        guard lifetimes >= 1 else { return }
        turn()
        if lifetimes >= 2 { turn() }
        youngerSince = MonotonicTime(nanoseconds: youngerSince.nanoseconds + lifetimes * lifetime.nanoseconds)
    }

    /// The younger generation becomes the older one, which goes but for what is in use.
    @usableFromInline
    mutating func turn() {
        var kept: [Key: Value] = [:]
        for (key, value) in older where kept.count < maximumCount / 4 && isInUse(value) { kept[key] = value }
        (older, younger) = (younger, kept)
    }
}
