import Foundation
import Settings
import TestSupport
import Testing

@testable import Node

@Suite
struct MigrationTests {
    @Test
    func `a folder that is no gateway's is not copied from, and not made into one`() throws {
        let folder = try TemporaryDirectory()
        var configuration = StagedoorConfiguration()
        configuration.store.directory = folder.path + "/mistyped"
        let error = #expect(throws: StartupError.self) { try Migration.run(configuration, from: .files) }
        #expect(error?.description.contains("mistyped has no configuration.sqlite") == true)
        #expect(!FileManager.default.fileExists(atPath: configuration.store.directory))
        withExtendedLifetime(folder) {}
    }
}
