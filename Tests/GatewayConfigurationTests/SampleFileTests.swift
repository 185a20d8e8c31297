import Glibc
import Settings
import Testing

@testable import GatewayConfiguration

@Suite("conf/stagedoor.yaml")
struct SampleFileTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    private static let path = root + "/conf/stagedoor.yaml"

    static func text(of name: String = "conf/stagedoor.yaml") throws -> String {
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
    @Test(.enabled(if: getenv("WRITE_SAMPLE") != nil, "set WRITE_SAMPLE to write it")) func `can be written anew`() throws {
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
