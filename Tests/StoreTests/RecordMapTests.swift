import Testing

@testable import Store

@Suite("Maps that share what is the same")
struct RecordMapTests {
    /// The same steps with a dictionary, by a generator that always does the same.
    @Test
    func `it holds what a dictionary would`() {
        var (map, model) = (RecordMap<Int, Int>(), [Int: Int]())
        var copies: [(RecordMap<Int, Int>, [Int: Int])] = []
        var random: UInt64 = 1
        for step in 0..<5_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let key = Int(random >> 33) % 700
            switch random >> 60 {
            case 0..<4: #expect(map.removeValue(forKey: key) == model.removeValue(forKey: key))
            case 4: (map[key], model[key]) = (nil, nil)
            default: (map[key], model[key]) = (step, step)
            }
            if step % 1_000 == 0 { copies.append((map, model)) }
        }
        copies.append((map, model))
        for (map, model) in copies {
            #expect(map.count == model.count && map.isEmpty == model.isEmpty)
            #expect(map.values.sorted() == model.values.sorted())
            #expect(Set(map.keys) == Set(model.keys))
            #expect((0..<700).allSatisfy { map[$0] == model[$0] })
        }
    }

    @Test
    func `maps with the same entries are equal`() {
        var map: RecordMap = ["a": 1, "b": 2]
        #expect(map == ["b": 2, "a": 1])
        map["b"] = 3
        #expect(map != ["b": 2, "a": 1])
        map["b"] = nil
        #expect(map == ["a": 1])
    }
}
