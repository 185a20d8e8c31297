import Testing

@testable import Redis

@Suite("What servers say of themselves")
struct GreetingTests {
    @Test func `INFO tells the run id, the role, the version and the replicas`() {
        let information = ServerInformation(
            "# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.0.1\r\nrun_id:abc\r\n\r\n# Replication\r\nrole:master\r\n"
                + "connected_slaves:2\r\nmaster_replid:def\r\nloading:0\r\n")
        #expect(information.runID == "abc")
        #expect(information.version == "8.0.1")
        #expect(information.isPrimary == true)
        #expect(!information.isLoading)
        #expect(information.replicaCount == 2)
        #expect(ServerInformation("hello").isPrimary == nil)
        #expect(ServerInformation("role:slave\r\nloading:1").isPrimary == false)
        #expect(ServerInformation("role:slave\r\nloading:1").isLoading)
    }

    @Test func `a refusal is known by its first word`() {
        #expect(RedisRefusal("READONLY You can't write").code == "READONLY")
        #expect(RedisRefusal("").code == "")
    }
}
