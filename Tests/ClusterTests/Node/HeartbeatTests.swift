import Testing
import Wire

@testable import Cluster

@Suite("A node's heartbeat")
struct HeartbeatTests {
    private var heartbeat = Heartbeat(of: NodeSettings(nodeID: "a"), now: .zero)

    private func moment(_ seconds: Int) -> MonotonicTime { .zero + .seconds(seconds) }

    private func beat(_ record: String?) -> ClusterAction { .call(.heartbeat(record: record, buries: true)) }

    @Test mutating func `a record is told until the server has it`() {
        let first = [0, 1].map { heartbeat.beat(buries: true, moment($0)) }
        #expect(first == [[beat("{}"), .call(.nodes)], [beat("{}")]])
        heartbeat.written("{}", sentAt: moment(1), moment(1))
        heartbeat.written(nil, sentAt: moment(2), moment(2))
        let second = heartbeat.beat(buries: true, moment(2))
        #expect(second == [beat(nil)])
        heartbeat.forgetTold()
        let third = heartbeat.beat(buries: false, moment(2))
        #expect(third == [.call(.heartbeat(record: "{}", buries: false))])
    }

    @Test mutating func `the more nodes there are, the rarer is the list of them`() {
        let nodes = Dictionary(uniqueKeysWithValues: (0..<100).map { ("n\($0)", "{}") })
        _ = heartbeat.see(nodes, isWhole: true)
        let lists = [0, 4, 5].map { heartbeat.beat(buries: true, moment($0)).contains(.call(.nodes)) }
        #expect(lists == [true, false, true] && heartbeat.nodes == nodes)
    }

    @Test mutating func `who has no record, or was silent for longer than heartbeats live, tells everything again`() {
        heartbeat.written("{}", sentAt: moment(0), moment(0))
        let seen = [["a": "{}"], ["a": ""], [:]].map { heartbeat.see($0, isWhole: true) }
        #expect(seen == [false, true, true])
        heartbeat.written("{}", sentAt: moment(11), moment(11))
        let seenThen = [["a": "{}"], ["a": "{}"]].map { heartbeat.see($0, isWhole: true) }
        #expect(seenThen == [true, false])
    }

    @Test mutating func `who is missing in a list that is not whole stays, as it was known`() {
        _ = heartbeat.see(["a": "{}", "b": "{1}", "c": "{2}"], isWhole: true)
        let hasToTellAgain = heartbeat.see(["b": "", "c": "{3}"], isWhole: false)
        #expect(hasToTellAgain && heartbeat.nodes == ["a": "{}", "b": "{1}", "c": "{3}"])
        _ = heartbeat.see(["b": "{1}"], isWhole: true)
        #expect(heartbeat.nodes == ["b": "{1}"])
    }

    private func record(of process: String) -> String {
        var record = NodeRecord(id: "a")
        record.process = process
        return record.text
    }

    /// Until its own is written it finds that of the process before it.
    @Test mutating func `another process has its name if that one's record came after its own`() {
        heartbeat.record = record(of: "1")
        _ = heartbeat.see(["a": record(of: "2")], isWhole: true)
        #expect(!heartbeat.hasRival)
        heartbeat.written(record(of: "1"), sentAt: moment(1), moment(1))
        _ = heartbeat.see(["a": record(of: "1")], isWhole: true)
        #expect(!heartbeat.hasRival)
        _ = heartbeat.see(["a": record(of: "2")], isWhole: true)
        #expect(heartbeat.hasRival)
    }

    @Test mutating func `what stands under its name is read before it is written over`() {
        heartbeat.written("{0}", sentAt: moment(0), moment(0))
        let actions = heartbeat.beat(buries: true, moment(1))
        #expect(actions == [.call(.nodes), beat("{}")])
    }

    @Test mutating func `the next one is due an interval later`() {
        #expect(heartbeat.dueAt == moment(0))
        heartbeat.scheduleNext(moment(7))
        #expect(heartbeat.dueAt == moment(8))
    }
}
