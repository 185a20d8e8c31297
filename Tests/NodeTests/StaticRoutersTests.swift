import Foundation
import TestSupport
import Testing

@testable import Node

@Suite("Static routers of a node")
struct StaticRoutersTests {
    @Test func `what participants of tokens left behind is forgotten, links and drafts too`() throws {
        let directory = try TemporaryDirectory()
        let files = FileManager.default
        let folder = directory.path + "/sdp"
        try files.createDirectory(atPath: folder + "/stage", withIntermediateDirectories: true)
        for name in ["p.sdp", "p.sdp.new"] { try Data().write(to: URL(filePath: "\(folder)/stage/\(name)")) }
        try files.createSymbolicLink(atPath: folder + "/p.sdp", withDestinationPath: "stage/p.sdp")
        try Data().write(to: URL(filePath: directory.path + "/identity"))
        StaticRouters.forgetDescriptions(in: directory.path)
        #expect(try files.contentsOfDirectory(atPath: directory.path) == ["identity"])
        StaticRouters.forgetDescriptions(in: directory.path)
    }
}
