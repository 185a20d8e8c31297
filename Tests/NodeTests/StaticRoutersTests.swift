import Foundation
import Glibc
import TestSupport
import Testing

@testable import Node

@Suite("Static routers of a node")
struct StaticRoutersTests {
    /// By which the file system knows it.
    private static func number(of path: String) -> UInt {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_ino : 0
    }

    @Test func `what participants of tokens left behind is forgotten, links and drafts too`() throws {
        let directory = try TemporaryDirectory()
        let files = FileManager.default
        let folder = directory.path + "/sdp"
        try files.createDirectory(atPath: folder + "/stage", withIntermediateDirectories: true)
        for name in ["p.sdp", "p.sdp.new"] { try Data().write(to: URL(filePath: "\(folder)/stage/\(name)")) }
        try files.createSymbolicLink(atPath: folder + "/p.sdp", withDestinationPath: "stage/p.sdp")
        try Data().write(to: URL(filePath: directory.path + "/identity"))
        let number = Self.number(of: folder)
        StaticRouters.forgetDescriptions(in: directory.path)
        #expect(try files.contentsOfDirectory(atPath: folder).isEmpty)
        #expect(number > 0 && Self.number(of: folder) == number, "receivers may have it mounted")
        #expect(try files.contentsOfDirectory(atPath: directory.path).sorted() == ["identity", "sdp"])
    }

    @Test func `what a link leads to is nobody's to forget, and a folder that is not there no fault`() throws {
        let directory = try TemporaryDirectory()
        let files = FileManager.default
        StaticRouters.forgetDescriptions(in: directory.path)
        try files.createDirectory(atPath: directory.path + "/elsewhere", withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: directory.path + "/elsewhere/precious"))
        try files.createSymbolicLink(atPath: directory.path + "/sdp", withDestinationPath: "elsewhere")
        StaticRouters.forgetDescriptions(in: directory.path)
        #expect(try files.contentsOfDirectory(atPath: directory.path).sorted() == ["elsewhere", "sdp"])
        #expect(files.fileExists(atPath: directory.path + "/elsewhere/precious"))
    }
}
