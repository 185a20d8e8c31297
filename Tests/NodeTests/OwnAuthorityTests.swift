import DataDirectory
import EventLoop
import Foundation
import OpenSSL
import Settings
import TestSupport
import Testing
import Wire

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

    /// Puts one there that a clock made which was wrong.
    private func make(named name: String, at now: WallTime) throws -> Identity {
        let made = try Identity.makeAuthority(commonName: name, now: now, validFor: .seconds(3_650 * 86_400))
        let directory = try DataDirectory(at: folder.path + "/data")
        try directory.makeFolder("tls")
        try directory.write(made.certificate.pem(), to: "tls/ca.pem")
        try directory.write(made.key.pem().reveal(), to: "tls/ca.key")
        return made
    }

    private var doctorsWords: String {
        var configuration = StagedoorConfiguration()
        configuration.store.directory = folder.path + "/data"
        return DoctorChecks.certificates(configuration).map(\.text).joined()
    }

    /// 1970 and 2084.
    @Test(arguments: [0, 3_600_000_000] as [Int64])
    func `gets other dates and keeps its key where the clock that made it was wrong`(_ seconds: Int64) throws {
        let former = try make(named: OwnAuthority.name, at: WallTime(secondsSince1970: seconds))
        #expect(doctorsWords.contains("tls/ca.pem is valid from "))
        let certificates = try ServerCertificates(StagedoorConfiguration(), directory: DataDirectory(at: folder.path + "/data"))
        let (fresh, now) = (try Certificate(pem: Array(try text().utf8)), EventLoop.wallNow())
        #expect(fresh.notBefore <= now && fresh.notAfter > now)
        #expect(fresh.isSigned(by: former.key), "who trusts the former file takes it, by the right clock")
        #expect(certificates.identity.certificate.isSigned(by: former.certificate))
        #expect(certificates.authorityPath?.hasSuffix("/data/tls/ca.pem") == true)
        #expect(!doctorsWords.contains("tls/ca.pem"))
        let kept = try text()
        try start()
        #expect(try text() == kept)
    }

    @Test func `of another name is somebody else's, and stays`() throws {
        let former = try make(named: "Another authority", at: WallTime(secondsSince1970: 0))
        try start()
        #expect(try text() == String(decoding: former.certificate.pem(), as: UTF8.self))
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
