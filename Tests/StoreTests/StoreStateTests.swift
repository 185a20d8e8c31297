import Testing
import Wire

@testable import Store

@Suite("The state in memory")
struct StoreStateTests {
    /// `platform.region` and `platform.account` may be changed; ARNs that were handed out stay.
    @Test(arguments: [ResourceName(region: "eu-west-1"), ResourceName(account: "123456789012"), ResourceName()])
    func `a stage is found by its id, by whatever name it was made`(_ names: ResourceName) {
        var state = StoreState()
        let made = ResourceName().arn(.stage, "made")
        state.put(.stage(Stage(arn: made, createdAt: WallTime(secondsSince1970: 1_800_000_000))))
        #expect(state.stageARN(ofID: "made", names: names) == made)
        #expect(state.stage(ofID: "made")?.arn == made)
        #expect(state.stageARN(ofID: "gone", names: names) == names.arn(.stage, "gone"))
        state.remove(.stage(arn: made))
        #expect(state.stage(ofID: "made") == nil)
        #expect(state.stageARN(ofID: "made", names: names) == names.arn(.stage, "made"))
    }

    /// Of a stage without a name the servers of a cluster cannot be asked.
    @Test func `nobody publishes by an ingest configuration of no stage`() {
        let stage = EmbeddedStoreTests.stage("one").arn
        let attached = EmbeddedStoreTests.configuration("c", stage: stage).publishers
        #expect(attached == [StageParticipant("p-c", of: stage), StageParticipant("r-c", of: stage)])
        #expect(EmbeddedStoreTests.configuration("c").publishers.isEmpty)
    }
}
