import Glibc
import Testing

@testable import GatewayConfiguration

@Suite("conf/stagedoor.yaml")
struct SampleFileTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    private static let path = root + "/conf/stagedoor.yaml"

    fileprivate static func text(of name: String = "conf/stagedoor.yaml") throws -> String {
        let file = try #require(fopen("\(root)/\(name)", "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 200_000)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    @Test func `is what the table says`() throws {
        #expect(try Self.text() == StagedoorConfiguration.sampleFile)
    }

    /// `WRITE_SAMPLE=1 swift test --filter SampleFileTests` writes the file anew after a change of the table.
    @Test(.enabled(if: getenv("WRITE_SAMPLE") != nil)) func `can be written anew`() throws {
        let file = try #require(fopen(Self.path, "w"))
        let text = Array(StagedoorConfiguration.sampleFile.utf8)
        #expect(fwrite(text, 1, text.count, file) == text.count)
        fclose(file)
    }

    @Test func `sets every key to its default`() throws {
        let outline = try FileOutline(yaml: StagedoorConfiguration.sampleFile)
        let keys = ConfigurationTable.keys(of: StagedoorConfiguration()).map(\.path)
        let emptyMaps = ConfigurationTable.maps.filter { $0.names(StagedoorConfiguration()).isEmpty }.map(\.path)
        #expect(Set(outline.leaves) == Set(keys + emptyMaps))
        #expect(try ConfigurationLoader.load(yaml: StagedoorConfiguration.sampleFile) == StagedoorConfiguration())
    }

    @Test func `its commented examples name every key of their maps`() throws {
        let lines = StagedoorConfiguration.sampleFile.split(separator: "\n", omittingEmptySubsequences: false)
        for map in ConfigurationTable.maps where map.names(StagedoorConfiguration()).isEmpty {
            let start = try #require(lines.firstIndex(of: "# \(map.path):"))
            let example = lines[start...].prefix { $0.hasPrefix("# ") }.map { $0.dropFirst(2) }.joined(separator: "\n")
            let leaves = try FileOutline(yaml: example).leaves
            #expect(Set(leaves) == Set(map.keys(map.exampleName).map(\.path)))
        }
    }

    @Test func `is at most three levels deep, and every key is explained`() {
        for key in ConfigurationTable.keys {
            #expect(key.path.split(separator: ".").count <= 3)
            #expect(key.summary.hasSuffix("."), "\(key.path)")
        }
        #expect(Set(ConfigurationTable.keys.map(\.path)).count == ConfigurationTable.keys.count)
    }
}

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
        #expect(applied.contract.bFrames == .warn)
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
            yaml: "contract: {profile: {limit: [main]}}\nadvertise: {host: \"a\\\"b\"}")
        #expect(try ConfigurationLoader.load(yaml: configuration.effectiveFile) == configuration)
    }
}
