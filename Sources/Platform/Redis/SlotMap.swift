/// Which primary has which slot, as a node of the cluster says (CLUSTER SLOTS), corrected by redirections since.
struct SlotMap: Equatable {
    /// Of one answer; a cluster should have no more than 1,000.
    static let maximumNodes = 1_000

    /// Whoever owns a slot.
    private(set) var primaries: [RedisEndpoint] = []
    /// Primaries and replicas.
    private(set) var nodes: [RedisEndpoint] = []
    /// Indices of `primaries`.
    private var owners = [Int?](repeating: nil, count: KeySlot.count)

    init() {}

    /// Reads ranges of slots, each with its primary and then its replicas; nil for another answer, as for one with more slots
    /// than there are: 40,000 ranges of all of them would hold the loop for a second.
    /// - Parameter host: of the node that answered, which names its own host by an empty one.
    init?(_ answer: RedisValue, from host: String) {
        guard let ranges = answer.elements else { return nil }
        var (known, slotsLeft) = (Set<RedisEndpoint>(), Int64(KeySlot.count))
        for range in ranges {
            guard let parts = range.elements, parts.count >= 3, let first = parts[0].integer, let last = parts[1].integer,
                0 <= first, first <= last, last < KeySlot.count, last - first < slotsLeft
            else { return nil }
            slotsLeft -= last - first + 1
            for (index, part) in parts.dropFirst(2).enumerated() {
                guard let endpoint = Self.endpoint(part, host: host) else { return nil }
                if known.insert(endpoint).inserted { nodes.append(endpoint) }
                guard nodes.count <= Self.maximumNodes else { return nil }
                if index == 0 { assign(Int(first)...Int(last), to: endpoint) }
            }
        }
    }

    /// Whether every slot has an owner.
    var isComplete: Bool { owners.allSatisfy { $0 != nil } }

    subscript(slot: KeySlot) -> RedisEndpoint? { owners[slot.number].map { primaries[$0] } }

    /// Notes a redirection.
    mutating func assign(_ slot: KeySlot, to endpoint: RedisEndpoint) { assign(slot.number...slot.number, to: endpoint) }

    private mutating func assign(_ slots: ClosedRange<Int>, to endpoint: RedisEndpoint) {
        let index = primaries.firstIndex(of: endpoint) ?? primaries.count
        if index == primaries.count { primaries.append(endpoint) }
        for slot in slots { owners[slot] = index }
    }

    /// Host, port, id, and in newer servers other names: `cluster-preferred-endpoint-type` decides what the host is.
    private static func endpoint(_ value: RedisValue, host asked: String) -> RedisEndpoint? {
        guard let parts = value.elements, parts.count >= 2, let port = parts[1].integer.flatMap({ UInt16(exactly: $0) }) else {
            return nil
        }
        let host = parts[0].text ?? ""
        return RedisEndpoint(host: host.isEmpty ? asked : host, port: port)
    }
}

/// One of the 16,384 parts of a cluster's key space (redis.io/docs/reference/cluster-spec, "Key distribution model").
struct KeySlot: Hashable {
    static let count = 16_384

    let number: Int

    /// Nil beyond the last slot.
    init?(_ number: Int) {
        guard (0..<Self.count).contains(number) else { return nil }
        self.number = number
    }

    /// The slot of a key: that of the text between its first `{` and the next `}`, if there is any, so that keys can be kept
    /// together.
    init(of key: RedisArgument) { number = Int(Self.crc16(Self.tag(of: key.bytes[...]))) % Self.count }

    private static func tag(of key: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")) else { return key }
        let rest = key[(open + 1)...]
        guard let close = rest.firstIndex(of: UInt8(ascii: "}")), close > rest.startIndex else { return key }
        return rest[..<close]
    }

    /// CRC-16/XMODEM: polynomial 0x1021, from 0, no reflection.
    static func crc16(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte) << 8) { crc, _ in crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
        }
    }
}
