import Admission
import EventLoop
import Refusals
import SDP
import StageHub
import Testing
import Wire

@testable import RouterForwarding

@Suite("Static driver")
struct StaticRouterTests {
    @Test func `gives the lowest free pair of even ports, and the same again`() {
        var pairs = PortPairs(5003...5015)
        #expect(pairs.assign(to: "a")?.video == 5004)
        #expect(pairs.assign(to: "b")?.audio == 5010)
        #expect(pairs.assign(to: "a")?.audio == 5006)
        #expect(pairs.assign(to: "c")?.video == 5012)
        #expect(pairs.assign(to: "d") == nil)
        pairs.release("a")
        #expect(pairs.assign(to: "d")?.video == 5004)
    }

    @Test func `what a process without layers gave out never overlaps once each participant takes more`() {
        var pairs = PortPairs(5004...5035, width: StaticPorts.layeredWidth)
        for (owner, port) in [("a", 5008), ("b", 5012), ("a", 5008), ("c", 5016)] as [(String, UInt16)] {
            pairs.adopt(port, of: owner)
        }
        #expect(pairs.assigned == ["a": 5008, "c": 5016])
        #expect(pairs.assign(to: "b")?.video == 5028, "5004, 5012 and 5020 reach into others")
        #expect(pairs.assign(to: "d") == nil)
        pairs.release("c")
        #expect(pairs.assign(to: "d")?.video == 5020)
    }

    /// Of a token's participant: the former publication's worker hears of the takeover when the next one flows already.
    @Test func `ports stay with a participant whose next publication begins before the former one ends`() throws {
        let socket = try RouterSocket(loop: try EventLoop())
        let written = Lock("")
        let router = StaticRouter(.init(ports: 5004...5011)) { _, sdp in written.withLock { $0 = sdp } }
        func publication(_ participant: String) -> Publication {
            Publication(
                grant: PublishGrant(participantID: participant, stageARN: "arn", stageID: "s", credentialHash: "h"),
                lease: PublishLease(participantID: participant, stageID: "s", stageSessionID: "st", generation: 1),
                ingestProtocol: .whip, timeline: Timeline())
        }
        func ports(_ publication: Publication) throws -> [UInt16] {
            try #require(router.attach(publication, socket: socket))
            publication.setFormat(.opus(isStereo: true), of: .audio)
            return try SessionDescription(parsing: Array(written.withLock { $0 }.utf8)).media.map(\.port)
        }
        let (former, next, other, last) = (publication("p"), publication("p"), publication("q"), publication("r"))
        #expect(try ports(former) == [5004, 5006])
        #expect(try ports(next) == [5004, 5006])
        former.end(.takenOver)
        router.release(former.grant.participant.name)
        #expect(try ports(other) == [5008, 5010], "the first two are somebody's")
        next.end(.closed)
        #expect(try ports(last) == [5004, 5006])
        for publication in [other, last] { publication.end(.closed) }
        #expect(router.reservations.isEmpty)
    }

    @Test(arguments: [5004...5005, 65_534...65_535] as [ClosedRange<UInt16>])
    func `a range too small gives nothing`(_ range: ClosedRange<UInt16>) {
        var pairs = PortPairs(range)
        #expect(pairs.assign(to: "a") == nil)
    }

    @Test func `a description exists before any media`() throws {
        let router = StaticRouter(.init()) { _, _ in }
        let text = try #require(router.reserve(for: "arn", ParticipantKey("p1", onStage: "s")))
        let early = try SessionDescription(parsing: Array(text.utf8))
        #expect(early.media.map(\.port) == [5004, 5006])
        #expect(early.media[0].formatParameters[96]?["packetization-mode"] == "1")
        #expect(!early.media[0].attributes.contains("ssrc"))
    }

    @Test func `equal participant ids on two stages have ports and descriptions of their own`() throws {
        let (one, other) = (ParticipantKey("p", onStage: "s1"), ParticipantKey("p", onStage: "s2"))
        var pairs = PortPairs(5004...5015)
        #expect(pairs.assign(to: one.name) != pairs.assign(to: other.name))
        let files = DescriptionFiles(directory: "/d")
        #expect(files.path(of: one) == "/d/s1/p.sdp")
        #expect(files.path(of: other) == "/d/s2/p.sdp")
    }

    @Test func `each layer has a port and an m-line of its own where that is wished, best first`() throws {
        let loop = try EventLoop()
        let written = Lock<[String]>([])
        var configuration = StaticRouter.Configuration(ports: 5004...5019)
        configuration.sendsLayers = true
        let router = StaticRouter(configuration) { _, sdp in written.withLock { $0.append(sdp) } }
        let publication = Publication(
            grant: PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h"),
            lease: PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1), ingestProtocol: .rtmp,
            timeline: Timeline())
        let socket = try RouterSocket(loop: loop)
        try #require(router.attach(publication, socket: socket))
        publication.setFormat(.opus(isStereo: true), of: .audio)
        // The smallest comes first and alone, as from a browser whose way is narrow; then its neighbour.
        let steps: [(layer: UInt8, ports: [UInt16], labels: [String?])] = [
            (2, [5010, 5006], [nil, nil]), (1, [5008, 5010, 5006], ["hi", "low", nil]),
        ]
        for (layer, ports, labels) in steps {
            let track = TrackID(.video, layer: layer)
            publication.setFormat(.h264(sps: [0x67, 0x42, 0xC0, layer], pps: [0x68, 0xCE]), of: track)
            publication.setPictureSize(width: 1280 >> Int(layer), height: 360, of: track, at: loop.now)
            let last = try SessionDescription(parsing: Array(try #require(written.withLock { $0.last }).utf8))
            #expect(last.media.map(\.port) == ports)
            #expect(last.media.map { $0.attributes.value(of: "label") } == labels)
            #expect(last.media[0].formatParameters[96]?["profile-level-id"] == "42c00\(layer)")
        }
        var ports = PortPairs(5004...5019, width: StaticPorts.layeredWidth)
        #expect(ports.assign(to: "a")?.video == 5004 && ports.assign(to: "b")?.video == 5012 && ports.assign(to: "c") == nil)
    }

    @Test(.timeLimit(.minutes(10)))
    func `of parameter sets that differ in every picture some are described, and at last those that stay`() throws {
        let loop = try EventLoop()
        let written = Lock<[String]>([])
        let router = StaticRouter(.init(ports: 5004...5019)) { _, sdp in written.withLock { $0.append(sdp) } }
        let publication = Publication(
            grant: PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h"),
            lease: PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1), ingestProtocol: .rtmp,
            timeline: Timeline())
        try #require(router.attach(publication, socket: try RouterSocket(loop: loop)))
        for number in 0...1_000 {
            publication.setFormat(
                .h264(sps: [0x67, 0x42, UInt8(number >> 8), UInt8(number & 0xFF)], pps: [0x68, 0xCE]), of: .video)
        }
        #expect(written.withLock { $0.count } < 100)
        let isLastWritten = { written.withLock { $0.last?.contains("profile-level-id=4203e8") == true } }
        #expect(loop.run(until: isLastWritten, within: .seconds(120)))
        withExtendedLifetime(publication) {}
    }

    /// Tells when a leg of it was opened.
    private final class Source: MediaSource {
        private(set) var announcementCount = 0
        var canRequestKeyframe: Bool { false }
        func requestKeyframe(_ track: TrackID) {}
        func limitBitrate(_ bitsPerSecond: Int?) {}
        func announced() { announcementCount += 1 }
    }

    @Test func `the one leg of a publication is made with its first format`() throws {
        let socket = try RouterSocket(loop: try EventLoop())
        let router = StaticRouter(.init(ports: 5004...5007)) { _, _ in }
        let publication = Publication(
            grant: PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h"),
            lease: PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1), ingestProtocol: .rtmp,
            timeline: Timeline())
        let source = Source()
        publication.source = source
        try #require(router.attach(publication, socket: socket))
        #expect(source.announcementCount == 0)
        #expect(router.reservations.count == 1)
        publication.setFormat(.opus(isStereo: true), of: .audio)
        #expect(source.announcementCount == 1)
        publication.setFormat(.h264(sps: [0x67, 0x42, 0xC0, 0x1F], pps: [0x68, 0xCE]), of: .video)
        #expect(source.announcementCount == 1)
        publication.end(.closed)
        #expect(router.reservations.isEmpty)
    }
}
