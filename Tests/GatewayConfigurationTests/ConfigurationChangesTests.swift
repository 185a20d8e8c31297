import Settings
import Testing

@testable import GatewayConfiguration

@Suite("Configuration reload")
struct ConfigurationChangesTests {
    @Test func `tells what can be applied now and what cannot`() throws {
        let old = StagedoorConfiguration()
        let new = try ConfigurationLoader.load(
            yaml: """
                rtmp: {listen: off, idleTimeout: 20s}
                contract: {bFrames: {action: warn}}
                routers: {embedded: {driver: embedded}, local: {host: 127.0.0.1, srtp: true}, lab: {driver: static, host: 127.0.0.1}}
                """)
        let changes = ConfigurationChanges(from: old, to: new)
        #expect(changes.restart == ["rtmp.listen", "rtmp.idleTimeout", "routers.lab", "routers.local.srtp"])
        #expect(changes.live == ["contract.bFrames.action"])
        #expect(ConfigurationChanges(from: new, to: new).isEmpty)
        let applied = new.applied(to: old)
        #expect(applied.rtmp == old.rtmp && applied.routers == old.routers)
        #expect(applied.contract.bFrames.action == .warn)
        #expect(ConfigurationChanges(from: applied, to: new).restart == changes.restart, "told again at the next reload")
    }

    @Test func `the manual names every key that is in force at once, and no other`() throws {
        let manual = try SampleFileTests.text(of: "docs/operations.md")
        let list = try #require(manual.firstMatch(of: /In force at once:\s([^.]*(?:\.[a-z][^.]*)*)\.\s/)).output.1
        let named = list.matches(of: /`([^`]+)`/).map { String($0.output.1) }
        func isNamed(_ path: String) -> Bool { named.contains { path == $0 || path.hasPrefix($0 + ".") } }
        for key in ConfigurationTable.keys { #expect(isNamed(key.path) == (key.reload == .live), "\(key.path)") }
        for map in ConfigurationTable.maps {
            #expect(isNamed(map.path) == (map.reload == .live), "\(map.path)")
            #expect(Set(map.keys("a").map(\.reload)).count == 1, "all keys of \(map.path) or none")
        }
    }

    @Test func `the effective file reads back`() throws {
        let configuration = try ConfigurationLoader.load(
            yaml: "contract: {profile: {limit: [main]}}\nstore: {directory: \"a\\\"b\"}")
        #expect(try ConfigurationLoader.load(yaml: configuration.effectiveFile) == configuration)
    }
}
