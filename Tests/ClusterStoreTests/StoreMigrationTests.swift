import Foundation
import Store
import TestSupport
import Testing
import Wire

@testable import ClusterStore

@Suite("Moving a platform between files and database", .timeLimit(.minutes(10)))
struct StoreMigrationTests {
    private static let arn = ClusterHistoryTests.arn

    private static func fill(_ transaction: inout StateTransaction) {
        transaction.put(ClusterBench.stage("one"))
        for index in 0..<250 { transaction.put(ClusterBench.configuration("c\(index)", stage: arn)) }
        transaction.put(
            PublicKey(
                arn: ResourceName().arn(.publicKey, "k"), material: "PEM", fingerprint: "00:11", createdAt: ClusterBench.now))
        transaction.put(Revocation(stageARN: arn, participantID: "p", expiresAt: ClusterBench.now))
        transaction.setSetting("name", to: Secret("value"))
        _ = transaction.place(.init(stageID: "one", replica: 0), on: "a", expected: nil, now: ClusterBench.now)
    }

    private func files(_ directory: TemporaryDirectory) throws -> [Record.ID: Record] {
        let files = try EmbeddedFiles(directory: directory.path)
        defer { files.close() }
        return Dictionary(uniqueKeysWithValues: try files.load().records.map { ($0.id, $0) })
    }

    private func answers(_ directory: TemporaryDirectory) async throws -> [String] {
        let store = try EmbeddedStore(directory: directory.path)
        defer { store.close() }
        return try await withCheckedThrowingContinuation { continuation in
            store.read(ClusterHistoryTests.answers) { continuation.resume(with: $0) }
        }
    }

    @Test
    func `a database goes to the database and back whole`() async throws {
        let bench = try ClusterBench()
        let (source, target) = (try TemporaryDirectory(), try TemporaryDirectory())
        let store = try EmbeddedStore(directory: source.path) { Self.fill(&$0) }
        store.record(ClusterHistoryTests.story)
        store.close()
        let migration = StoreMigration(bench.settings("m"))
        let expected = try files(source)
        #expect(try migration.importFiles(of: source.path).records == 255)
        // Again, as after an interruption: nothing doubles.
        let moved = try migration.importFiles(of: source.path)
        let node = try bench.node("a")
        #expect(node.state.records.count == 255)
        #expect(node.state.records.allSatisfy { expected[$0.id] == $0 })
        let told = try await node.read(ClusterHistoryTests.answers)
        #expect(told == (try await answers(source)))
        let returned = try migration.exportFiles(to: target.path)
        #expect(returned.records == moved.records)
        #expect(returned.history == moved.history - 2, "warnings and news of recordings are in no participant's history")
        #expect(try files(target) == expected)
        #expect(try await answers(target) == told)
        // Again, as after an interruption before the configuration was written: nothing doubles.
        for name in try FileManager.default.contentsOfDirectory(atPath: target.path) where name.hasPrefix("configuration.sqlite")
        {
            try FileManager.default.removeItem(atPath: "\(target.path)/\(name)")
        }
        let again = try migration.exportFiles(to: target.path)
        #expect((again.records, again.history) == (moved.records, 0))
        #expect(try files(target) == expected)
        #expect(try await answers(target) == told)
    }

    @Test
    func `nothing is moved onto something else`() async throws {
        let bench = try ClusterBench()
        let directory = try TemporaryDirectory()
        try EmbeddedStore(directory: directory.path) { $0.put(ClusterBench.stage("one")) }.close()
        let node = try bench.node("a")
        try await node.write { $0.put(ClusterBench.stage("two")) }
        let migration = StoreMigration(bench.settings("m"))
        #expect(throws: StoreError.self) { try migration.importFiles(of: directory.path) }
        #expect(throws: StoreError.self) { try migration.exportFiles(to: directory.path) }
        #expect(node.state.stages.count == 1)
    }
}
