import Testing

@testable import RouterForwarding

@Suite("Placements of one gateway")
struct LocalPlacementsTests {
    private static let keys = ["live", "over"].map { PlacementKey(stageID: $0, replica: 0) }

    private static func records(in placements: LocalPlacements) -> [PlacementRecord?] {
        var found: [PlacementRecord?] = []
        for key in keys { placements.placement(of: key) { found.append($0) } }
        return found
    }

    /// A new process would choose the router that the stage has left, where that has come back.
    @Test func `a process goes on with what the one before it decided about live stages`() {
        let (old, new) = (LocalPlacements(), LocalPlacements())
        let record = PlacementRecord(router: "second", generation: 7)
        for key in Self.keys { old.replace(key, nil, with: record) { _ in } }
        for (key, record) in old.records(ofStages: ["live"]) { new.adopt(record, of: key) }
        #expect(Self.records(in: new) == [record, nil])
        #expect(Self.records(in: old) == [record, record])
    }

    /// A stage for each call leaves a record each.
    @Test func `stages that are asked for stay, and those used longest ago make way`() {
        let placements = LocalPlacements(maximumCount: 8)
        let record = PlacementRecord(router: "first", generation: 1)
        var stages: Set<String> = []
        for number in 0..<100 {
            stages.insert("\(number)")
            placements.replace(PlacementKey(stageID: "\(number)", replica: 0), nil, with: record) { _ in }
            placements.placement(of: PlacementKey(stageID: "0", replica: 0)) { #expect($0 == record) }
        }
        #expect(placements.records(ofStages: stages).count <= 8)
        #expect(placements.records(ofStages: ["0"]).count == 1)
    }

    @Test func `any generation may be told, and has one after it`() {
        let placements = LocalPlacements()
        placements.adopt(PlacementRecord(router: "second", generation: .max), of: Self.keys[0])
        let generation = Self.records(in: placements)[0]?.generation
        #expect(generation == Generation.maximum)
        #expect(Generation.next(after: generation, wallMilliseconds: 0) == Generation.maximum)
    }
}
