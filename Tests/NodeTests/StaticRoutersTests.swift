import Admission
import EventLoop
import Foundation
import Glibc
import RouterForwarding
import Store
import TestSupport
import Testing
import Wire

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

    @Test func `an ingest configuration is described while it belongs to a stage, and keeps its ports when it moves`() throws {
        let steps = Lock<[String]>([])
        let router = StaticRouter(.init(ports: 5004...5011)) { participant, _ in
            steps.withLock { $0.append("+\(participant.name)") }
        } forget: { participant in
            steps.withLock { $0.append("-\(participant.name)") }
        }
        let reservations = StaticReservations([router])
        let arn = "arn:ingest-configuration/c"
        func follow(stage: String?) -> [String] {
            var transaction = StateTransaction(StoreState())
            if let stage {
                transaction.put(
                    IngestConfiguration(
                        arn: arn, stageARN: stage, participantID: "p", streamKey: Secret("k"), transport: .rtmp,
                        insecureIngest: true, createdAt: WallTime(nanosecondsSince1970: 0)))
            }
            reservations.follow(transaction.state)
            return steps.withLock { steps in
                defer { steps = [] }
                return steps
            }
        }
        #expect(follow(stage: "") == [], "its key is of no use yet")
        #expect(router.reservations.isEmpty)
        #expect(follow(stage: "arn:stage/one") == ["+one-p"])
        #expect(follow(stage: "arn:stage/one") == [])
        #expect(follow(stage: "arn:stage/two") == ["-one-p", "+two-p"])
        #expect(router.reservations == [arn: 5004])
        #expect(follow(stage: "") == ["-two-p"])
        #expect(router.reservations == [arn: 5004])
        #expect(follow(stage: "arn:stage/two") == ["+two-p"])
        #expect(follow(stage: nil) == ["-two-p"])
        #expect(router.reservations.isEmpty)
    }

    /// There may be thousands, and the control loop looks after each answer of the API.
    @Test func `without static routers no ingest configuration is looked at`() {
        var state = StoreState()
        state.put(
            .ingestConfiguration(
                IngestConfiguration(
                    arn: ResourceName().arn(.ingestConfiguration, "c"), participantID: "p", streamKey: Secret("key"),
                    transport: .rtmps, insecureIngest: false, createdAt: WallTime(secondsSince1970: 0))))
        let reservations = StaticReservations([])
        reservations.follow(state)
        #expect(reservations.reserved.isEmpty)
    }
}
