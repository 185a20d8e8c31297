import DataDirectory
import Foundation
import Settings
import TestSupport
import Testing

@testable import Node

@Suite("The gateway's own authority")
struct OwnAuthorityTests {
    private let folder: TemporaryDirectory
    private var authority: String { folder.path + "/data/tls/ca.pem" }

    init() throws { folder = try TemporaryDirectory() }

    private func start() throws {
        _ = try ServerCertificates(StagedoorConfiguration(), directory: DataDirectory(at: folder.path + "/data"))
    }

    private func text() throws -> String { try String(contentsOfFile: authority, encoding: .utf8) }

    @Test func `is kept over restarts`() throws {
        try start()
        let made = try text()
        try start()
        #expect(try text() == made)
    }

    /// As after a restore by root, whose files the gateway's user cannot read.
    @Test func `is not replaced where its key cannot be read`() throws {
        try start()
        let made = try text()
        let key = folder.path + "/data/tls/ca.key"
        try FileManager.default.removeItem(atPath: key)
        try FileManager.default.createDirectory(atPath: key, withIntermediateDirectories: false)
        #expect(throws: DataDirectoryError.failed("read \(key)", errno: EISDIR)) { try start() }
        #expect(try text() == made)
    }

    @Test func `is named where it is broken`() throws {
        try start()
        try "half".write(toFile: authority, atomically: true, encoding: .utf8)
        let error = #expect(throws: StartupError.self) { try start() }
        #expect(error?.description.hasPrefix("\(authority) with ca.key: ") == true)
        #expect(try text() == "half")
    }
}
