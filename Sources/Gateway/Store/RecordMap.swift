/// A dictionary in many parts, so that a copy that differs in one entry shares the others.
///
/// Every commit makes a new state while old ones are still being read: of 50,000 entries in one dictionary all would be
/// copied each time, here a 256th.
public struct RecordMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private static var partCount: Int { 256 }

    private var parts = [[Key: Value]](repeating: [:], count: partCount)
    public private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }

    /// In no order.
    public var values: FlattenSequence<[Dictionary<Key, Value>.Values]> { parts.map(\.values).joined() }
    /// In the order of `values`.
    public var keys: FlattenSequence<[Dictionary<Key, Value>.Keys]> { parts.map(\.keys).joined() }

    /// The value of `key`. Setting nil removes.
    public subscript(key: Key) -> Value? {
        get { parts[Self.part(of: key)][key] }
        set {
            let part = Self.part(of: key)
            let countBefore = parts[part].count
            parts[part][key] = newValue
            count += parts[part].count - countBefore
        }
    }

    @discardableResult
    public mutating func removeValue(forKey key: Key) -> Value? {
        let old = self[key]
        if old != nil { self[key] = nil }
        return old
    }

    private static func part(of key: Key) -> Int { key.hashValue & (partCount - 1) }
}

extension RecordMap: Equatable where Value: Equatable {}

extension RecordMap: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (Key, Value)...) {
        for (key, value) in elements { self[key] = value }
    }
}
