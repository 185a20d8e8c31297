import Foundation
import Settings
import TestSupport
import Testing

@testable import Node

@Suite("Files as the doctor sees them")
struct DoctorFilesTests {
    private let folder: TemporaryDirectory
    private var path: String { folder.path + "/data" }

    init() throws { folder = try TemporaryDirectory() }

    private func make(_ mode: Int) throws {
        try FileManager.default.createDirectory(atPath: path + "/tls", withIntermediateDirectories: true)
        try change(path, mode)
    }

    private func change(_ path: String, _ mode: Int) throws {
        // Whatever the umask of whoever runs this.
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func write(_ name: String, mode: Int) throws {
        try Data("a secret".utf8).write(to: URL(fileURLWithPath: folder.path + "/" + name))
        try change(folder.path + "/" + name, mode)
    }

    private func look(at path: String) throws -> Finding {
        var configuration = StagedoorConfiguration()
        configuration.store.directory = path
        let findings = DoctorChecks.dataDirectory(configuration)
        try #require(findings.count == 1, "\(findings)")
        return findings[0]
    }

    @Test func `a data directory that is private is fine, and so is one that is not there yet`() throws {
        #expect(try look(at: path).level == .fine)
        try make(0o700)
        try write("data/configuration.sqlite", mode: 0o644)
        #expect(try look(at: path).level == .fine)
        #expect(try look(at: path + "/none/data").level == .warning)
    }

    @Test func `a data directory that others get into is told, with what they may read there`() throws {
        try make(0o750)
        try write("data/configuration.sqlite", mode: 0o600)
        try write("data/tls/ca.key", mode: 0o644)
        let finding = try look(at: path)
        #expect(finding.level == .warning && finding.text.contains("(mode 750)") && finding.text.hasSuffix(": tls/ca.key"))
    }

    @Test func `what no start takes for a data directory fails`() throws {
        try make(0o777)
        #expect(try look(at: path).level == .failure)
        try change(path, 0o700)
        try FileManager.default.createSymbolicLink(atPath: path + "-link", withDestinationPath: path)
        for name in [path + "-link", path + "-link/"] {
            let finding = try look(at: name)
            #expect(finding.level == .failure && finding.text.contains("is a link"), "\(finding)")
        }
        try write("file", mode: 0o600)
        #expect(try look(at: folder.path + "/file").level == .failure)
    }

    @Test(.enabled(if: geteuid() == 0, "only root makes what is another user's"))
    func `what root put into another user's data directory fails, but for what recordings' readers have`() throws {
        try make(0o700)
        try write("data/configuration.sqlite", mode: 0o600)
        try FileManager.default.createDirectory(atPath: path + "/recordings", withIntermediateDirectories: true)
        for name in ["", "/tls", "/configuration.sqlite"] { try #require(chown(path + name, 65_534, 65_534) == 0) }
        #expect(try look(at: path).level == .fine)
        try write("data/tls/ca.key", mode: 0o600)
        let finding = try look(at: path)
        #expect(finding.level == .failure && finding.text.contains("user 65534 cannot use tls/ca.key in "), "\(finding)")
    }

    @Test func `a key that everybody may read is told, through links too`() throws {
        var configuration = StagedoorConfiguration()
        #expect(DoctorChecks.keyFiles(configuration).isEmpty)
        try write("a.key", mode: 0o644)
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/b.key", withDestinationPath: folder.path + "/a.key")
        (configuration.tls.privateKey, configuration.cluster.redisPrivateKey) = (folder.path + "/a.key", folder.path + "/b.key")
        let findings = DoctorChecks.keyFiles(configuration)
        #expect(findings.map(\.level) == [.warning, .warning])
        #expect(findings.first?.text.hasPrefix("cluster.redisPrivateKey: everybody may read ") == true)
        try change(folder.path + "/a.key", 0o640)
        #expect(DoctorChecks.keyFiles(configuration).isEmpty)
    }
}
