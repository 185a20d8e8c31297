import Admission
import Cluster
import Redis
import Refusals
import Settings
import TestSupport
import Testing

@Suite("Leases of a platform behind Sentinel", .timeLimit(.minutes(10)), .serialized)
struct FailoverTests {
    /// The servers lost the twelfth publisher's claim, and its node stood still while another one took the room.
    @Test func `of thirteen that a failover let in the newest is ended in words`() throws {
        let group = try RedisFailoverGroup()
        try #require(waitUntil { (try? group.isReady()) == true })
        let (slow, quick) = (try node("slow", on: group), try node("quick", on: group))
        try #require(slow.waitUntilReady() && quick.waitUntilReady())
        var claims = try (1...11).map { try TestClaim.granted("p\($0)", at: slow) }
        #expect(waitUntil { leases(group.servers[1]) == 11 })

        // What the primary hears now it takes with it.
        try group.servers[1].ask("REPLICAOF", "127.0.0.1", "1")
        claims.append(try TestClaim.granted("p12", at: slow))
        #expect(leases(group.servers[0]) == 12)
        slow.pause()
        group.servers[0].kill()
        #expect(waitUntil { (try? group.primary(accordingTo: group.sentinels[0])) === group.servers[1] })
        try #require(leases(group.servers[1]) == 11)
        let newest = try TestClaim.granted("p13", at: quick)
        #expect(leases(group.servers[1]) == 12)

        slow.resume()
        #expect(waitUntil { newest.holder.hasEnded })
        guard case .disconnected(let refusal)? = newest.holder.ends.first else { return #expect(Bool(false), "not ended") }
        #expect(refusal.code == .stageFull && refusal.sentence.contains("newest"))
        let everybody = (1...13).map { "p\($0)" }
        #expect(waitUntil { live(everybody, asking: quick)?.count == 12 })
        #expect(waitUntil { TestClaim("p14", at: quick).settled().refusal?.code == .stageFull })
        #expect(claims.allSatisfy { $0.holder.ends.isEmpty })
    }

    private func node(_ name: String, on group: RedisFailoverGroup) throws -> TestNode {
        let sentinels = group.sentinels.map { RedisEndpoint(host: "127.0.0.1", port: $0.port) }
        return try TestNode(name, on: .sentinel(primary: RedisFailoverGroup.name, sentinels: sentinels), limits: .impatient) {
            // Nobody is taken for dead, and who finds a server that may have forgotten waits for
            // less than the other stands still.
            ($0.cluster.leaseLifetime, $0.cluster.heartbeatLifetime, $0.cluster.grace) = (
                .seconds(300), .seconds(300), .seconds(2)
            )
            $0.cluster.renewalInterval = .milliseconds(500)
        }
    }

    /// How many the server knows of.
    private func leases(_ server: RedisServer) -> Int? { (try? server.ask("HLEN", "sd:{one}:leases")).flatMap { Int($0) } }
}
