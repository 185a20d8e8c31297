import Testing

@testable import Redis

@Suite("Cluster slots")
struct SlotMapTests {
    static func node(_ host: String, _ port: Int64) -> RedisValue {
        .array([.string(Array(host.utf8)), .integer(port), .string(Array("id".utf8))])
    }

    static func range(_ first: Int64, _ last: Int64, _ nodes: RedisValue...) -> RedisValue {
        .array([.integer(first), .integer(last)] + nodes)
    }

    // The check value of CRC-16/XMODEM and keys of the specification; numbers are those of CLUSTER KEYSLOT.
    static let slots: [(key: RedisArgument, slot: Int)] = [
        ("123456789", 0x31C3), ("", 0), ("foo", 12_182), ("bar", 5_061), ("hello", 866), ("somekey", 11_058),
        ("{user1000}.following", 3_443), ("{user1000}.followers", 3_443), ("user1000", 3_443),
        ("foo{hash_tag}", 2_515), ("hash_tag", 2_515), ("foo{}{bar}", 8_363), ("foo{{bar}}zap", 4_015), ("{bar", 4_015),
        ("foo{bar}{zap}", 5_061), ("{}", 15_257), ("{", 4_092), ("}", 12_090),
    ]

    @Test(arguments: 0..<slots.count)
    func `a key's slot is the CRC of its tag`(index: Int) {
        #expect(KeySlot(of: Self.slots[index].key).number == Self.slots[index].slot)
    }

    @Test func `the map tells the primary of a slot, whether it is complete, and all nodes`() throws {
        let answer = RedisValue.array([
            Self.range(0, 5_460, Self.node("10.0.0.1", 7_000), Self.node("10.0.0.4", 7_000)),
            Self.range(5_461, 16_382, Self.node("", 7_001)),
        ])
        var map = try #require(SlotMap(answer, from: "10.0.0.2"))
        #expect(map[try #require(KeySlot(0))] == RedisEndpoint(host: "10.0.0.1", port: 7_000))
        #expect(map[try #require(KeySlot(5_460))] == RedisEndpoint(host: "10.0.0.1", port: 7_000))
        #expect(map[try #require(KeySlot(5_461))] == RedisEndpoint(host: "10.0.0.2", port: 7_001))
        #expect(map[try #require(KeySlot(16_383))] == nil)
        #expect(map.primaries.count == 2)
        #expect(map.nodes.count == 3)
        #expect(!map.isComplete)
        map.assign(try #require(KeySlot(16_383)), to: RedisEndpoint(host: "10.0.0.9"))
        #expect(map.isComplete)
        #expect(map[try #require(KeySlot(16_383))] == RedisEndpoint(host: "10.0.0.9"))
        #expect(map.primaries.count == 3)
    }

    static let tooManyNodes: [RedisValue] = (0..<1_001).map { range($0, $0, node("10.0.0.1", 1_000 + $0)) }

    static let noMaps: [RedisValue] = [
        .status("OK"),
        .array([.integer(1)]),
        .array([range(0, 5)]),
        .array([range(5, 0, node("a", 1))]),
        .array([range(-1, 5, node("a", 1))]),
        .array([range(0, 16_384, node("a", 1))]),
        .array([range(0, 1, node("a", 65_536))]),
        .array([range(0, 1, .integer(7))]),
        .array([range(0, 16_383, node("a", 1)), range(5, 5, node("b", 1))]),
        .array(tooManyNodes),
    ]

    @Test(arguments: 0..<noMaps.count)
    func `what is no map, or too large a one, is not read`(index: Int) {
        #expect(SlotMap(Self.noMaps[index], from: "a") == nil)
    }
}
