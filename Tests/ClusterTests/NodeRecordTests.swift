import Testing

@testable import Cluster

@Suite("Record of a node")
struct NodeRecordTests {
    @Test func `is read as it was written`() {
        var record = NodeRecord(id: "a")
        (record.process, record.nodeURL, record.publicURL) = ("0a", "http://10.0.0.1:8080", "https://a.example/whip")
        (record.load, record.publishers, record.isDraining, record.routers) = (0.25, 40, true, ["r1", "r2"])
        #expect(NodeRecord(id: "a", parsing: record.text) == record)
    }

    @Test func `is a rival's where another process has its name`() {
        func record(_ id: String, _ process: String) -> NodeRecord {
            var record = NodeRecord(id: id)
            record.process = process
            return record
        }
        let own = record("a", "1")
        #expect(record("a", "2").isRival(of: own))
        #expect(!own.isRival(of: own) && !record("b", "2").isRival(of: own))
        #expect(!record("a", "").isRival(of: own), "of an older version, or not written yet")
    }

    @Test(arguments: [
        (#"{"publishers":9223372036854775807,"load":9223372036854775807}"#, 1_000_000, 10.0),
        (#"{"publishers":-9223372036854775808,"load":-1}"#, 0, 0), (#"{"publishers":"many","load":{}}"#, 0, 0), ("[]", 0, 0),
        ("", 0, 0),
    ])
    func `has no number that a sum over nodes could not hold`(_ text: String, _ publishers: Int, _ load: Double) {
        let record = NodeRecord(id: "a", parsing: text)
        #expect(record.publishers == publishers && record.load == load)
    }
}
