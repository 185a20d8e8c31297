import EventLoop
import HTTP
import Store
import Testing
import Wire

@testable import Events

@Suite("Stream of events")
struct EventStreamHubTests {
    @Test
    func `a reader goes on after its last event`() throws {
        let bench = try EventsBench()
        let hub = try EventStreamHub(loop: bench.loop, store: bench.store, names: ResourceName())
        bench.whenever { hub.wake() }
        for participant in ["a", "b", "c"] { bench.record(.publishStarted, of: participant) }
        var seen: [ServerSentEvent] = []
        let first = hub.subscribe(lastEventID: "1") { seen.append($0) }
        #expect(bench.wait { seen.count == 2 })
        #expect(seen.map(\.id) == ["2", "3"])
        bench.record(.publishStopped, of: "a")
        #expect(bench.wait { seen.count == 3 })
        #expect(seen.last?.data.contains("Participant Unpublished") == true)
        withExtendedLifetime(first) {}
    }

    /// Without a last event, or with one of another history: as after a migration from a cluster, whose numbers are larger by far,
    /// or when the data directory was restored.
    @Test(arguments: [nil, "1887436800000000000"])
    func `a reader whose place is not known here sees what happens from now on`(lastEventID: String?) throws {
        let bench = try EventsBench()
        let hub = try EventStreamHub(loop: bench.loop, store: bench.store, names: ResourceName())
        bench.record(.publishStarted, of: "old")
        var seen: [ServerSentEvent] = []
        let subscription = hub.subscribe(lastEventID: lastEventID) { seen.append($0) }
        #expect(bench.wait { hub.isAtEnd })
        bench.whenever { hub.wake() }
        bench.record(.publishStarted, of: "new")
        #expect(bench.wait { seen.count == 1 })
        #expect(seen.first?.id == "2")
        withExtendedLifetime(subscription) {}
    }
}
