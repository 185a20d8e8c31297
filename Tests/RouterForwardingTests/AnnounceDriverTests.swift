import Admission
import EventLoop
import Foundation
import HTTPClient
import JSON
import Refusals
import SDP
import StageHub
import Testing
import Wire

@testable import RouterForwarding

/// Answers every announce, and remembers what was asked.
private final class RecordingHTTP: RouterHTTP {
    var requests: [RouterRequest] = []
    /// Whether changes wait for `answer`.
    var holdsChanges = false
    private var held: [(RouterResponse?) -> Void] = []

    /// The oldest change that waits gets its answer, or none.
    func answer(_ status: Int?) {
        held.removeFirst()(status.map { RouterResponse(status: $0) })
    }

    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void) {
        requests.append(request)
        if holdsChanges, request.method == "PATCH" { return held.append(reply) }
        let lines = [
            "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0", "m=video 9 RTP/AVPF 96", "a=rtcp-mux",
        ]
        let sdp = lines.map { $0 + "\r\n" }.joined()
        let body: JSONValue = ["sdp": .string(sdp)]
        reply(RouterResponse(status: 201, location: "/v1/participants/p", body: body.serialized()))
    }

    /// The SDP of the request that came as the `index`-th.
    func description(_ index: Int) throws -> String {
        try #require(JSONValue(parsing: requests[index].body)["sdp"]?.string)
    }
}

@Suite("Announce to the example router", .serialized, .timeLimit(.minutes(10)))
struct AnnounceDriverTests {
    @Test func `a router written from the specification alone gets both tracks, reports and the end`() throws {
        let router = try ExampleRouter()
        let gateway = try Gateway([router])
        gateway.publish("p", stage: "s")
        #expect(gateway.wait { gateway.announced == 1 && gateway.socket.feedback.accepted >= 3 })
        _ = gateway.wait(.seconds(1)) { false }
        let status = try #require(gateway.status(of: router)["p"])
        #expect(status["cname"]?.string == "p")
        let tracks = try #require(status["tracks"]?.array)
        #expect(tracks.map { $0["kind"]?.string } == ["video", "audio"])
        for track in tracks {
            let (packets, reports) = (track["packets"]?.integer ?? 0, track["reports"]?.integer ?? 0)
            #expect(packets >= 20 && reports >= 2)
            let (first, highest) = (track["first"]?.integer ?? 0, track["highest"]?.integer ?? 0)
            #expect(highest - first + 1 == packets, "nothing lost, nothing twice")
        }
        #expect(gateway.keyframeRequests >= 1)
        gateway.publications.removeFirst().end(.closed)
        #expect(gateway.wait { gateway.status(of: router).isEmpty })
    }

    @Test func `a router that is killed loses its streams to the other, whole`() throws {
        let routers = try [ExampleRouter(), ExampleRouter()]
        let gateway = try Gateway(routers)
        for stage in 0..<10 { for one in 0..<2 { gateway.publish("p\(stage)-\(one)", stage: "s\(stage)") } }
        #expect(gateway.wait { gateway.announced == 20 })
        let before = routers.map { gateway.status(of: $0).count }
        #expect(before.reduce(0, +) == 20 && before.allSatisfy { $0 > 0 })
        routers[0].kill()
        let killed = gateway.loop.now
        #expect(gateway.wait { gateway.announced == 20 + before[0] })
        #expect(gateway.loop.now - killed < .seconds(6))
        _ = gateway.wait(.seconds(1)) { false }
        let after = gateway.status(of: routers[1])
        #expect(after.count == 20)
        for participant in after.values {
            #expect(participant["tracks"]?.array?.allSatisfy { ($0["packets"]?.integer ?? 0) > 10 } == true)
        }
    }

    @Test func `a router that restarted is told again what it lost`() throws {
        let router = try ExampleRouter()
        let gateway = try Gateway([router])
        gateway.publish("p", stage: "s")
        // The second lease is what shows the loss: the first one tells the boot's name.
        #expect(gateway.wait { gateway.announced == 1 })
        _ = gateway.wait(.seconds(6)) { false }
        let port = Int(router.url.split(separator: ":").last ?? "") ?? 0
        router.kill()
        router.process.waitUntilExit()
        let successor = try ExampleRouter(port: port)
        #expect(gateway.wait { gateway.stories.contains(.lost(participantID: "p", router: "r0")) })
        #expect(gateway.wait { gateway.announced == 2 })
        #expect(gateway.status(of: successor)["p"] != nil)
    }

    @Test func `a lower generation is refused`() throws {
        let router = try ExampleRouter()
        let loop = try EventLoop()
        let driver = AnnounceDriver(
            .init(name: "r", url: router.url, trust: RouterTrust(networks: [IPNetwork("127.0.0.1")!])), gatewayID: "g",
            http: RouterHTTPClient(HTTPClient(loop: loop), router: "r"))
        var announcement = Announcement(
            grant: PublishGrant(participantID: "p", stageARN: "a", stageID: "s", credentialHash: ""), sessionID: "st",
            generation: 7, ingestProtocol: .rtmp, acceptsKeyframeRequests: false,
            formats: [.video: .h264Offered(profileLevelID: "42e01f")], source: SocketAddress(.loopback, port: 9))
        var results: [Result<LegPlan, AnnounceFailure>] = []
        driver.announce(announcement) { results.append($0) }
        #expect(loop.run(until: { results.count == 1 }, within: .seconds(20)))
        announcement.generation = 6
        driver.announce(announcement) { results.append($0) }
        #expect(loop.run(until: { results.count == 2 }, within: .seconds(20)))
        #expect((try? results[0].get().tracks.map(\.isNACKed)) == [true])
        guard case .failure(.staleGeneration) = results[1] else {
            Issue.record("accepted a lower generation")
            return
        }
    }

    @Test func `what turns out different is patched: mute, keyframe requests, formats`() throws {
        let http = RecordingHTTP()
        let trust = RouterTrust(networks: [IPNetwork("127.0.0.1")!])
        let driver = AnnounceDriver(.init(name: "r", url: "http://127.0.0.1:1", trust: trust), gatewayID: "g", http: http)
        var announcement = Announcement(
            grant: PublishGrant(participantID: "p", stageARN: "a", stageID: "s", credentialHash: ""), sessionID: "st",
            generation: 7, ingestProtocol: .whip, acceptsKeyframeRequests: true,
            formats: [.video: .h264Offered(profileLevelID: "42e01f")], source: SocketAddress(.loopback, port: 9))
        driver.announce(announcement) { _ in }
        (announcement.muted, announcement.acceptsKeyframeRequests) = ([.video], false)
        announcement.formats[.video] = .h264(sps: [0x67, 0x42, 0xC0, 0x1F], pps: [0x68, 0xCE])
        driver.update(announcement)
        let patch = try #require(http.requests.last)
        #expect(patch.method == "PATCH" && patch.url == "http://127.0.0.1:1/v1/participants/p")
        let body = try JSONValue(parsing: patch.body)
        #expect(body["generation"]?.integer == 7 && body["pli"] == .bool(false) && body["muted"] == ["video"])
        let (offer, changed) = (try http.description(0), try http.description(1))
        #expect(offer.contains("profile-level-id=42e01f") && changed.contains("profile-level-id=42c01f"))
        func source(_ sdp: String) -> Substring? { sdp.split(separator: "\r\n").first { $0.hasPrefix("a=ssrc:") } }
        #expect(source(offer) == source(changed), "the same SSRC: it is the same announce")
    }

    /// Two on their way at once may arrive in either order, and the router would keep the older one for good.
    @Test func `changes are told one after another, the newest last, and again when there is no answer`() throws {
        let http = RecordingHTTP()
        http.holdsChanges = true
        let trust = RouterTrust(networks: [IPNetwork("127.0.0.1")!])
        let driver = AnnounceDriver(.init(name: "r", url: "http://127.0.0.1:1", trust: trust), gatewayID: "g", http: http)
        var announcement = Announcement(
            grant: PublishGrant(participantID: "p", stageARN: "a", stageID: "s", credentialHash: ""), sessionID: "st",
            generation: 7, ingestProtocol: .whip, acceptsKeyframeRequests: true,
            formats: [.video: .h264Offered(profileLevelID: "42e01f")], source: SocketAddress(.loopback, port: 9))
        driver.announce(announcement) { _ in }
        func told() throws -> [JSONValue?] { try http.requests.dropFirst().map { try JSONValue(parsing: $0.body)["muted"] } }
        for muted in [[TrackID.video], [], [.video], []] as [Set<TrackID>] {
            announcement.muted = muted
            driver.update(announcement)
        }
        #expect(try told() == [["video"]])
        http.answer(200)
        #expect(try told() == [["video"], []])
        for _ in 0..<AnnounceDriver.maximumRepetitions { http.answer(nil) }
        #expect(try told() == [["video"], [], [], [], []])
        http.answer(nil)
        #expect(try told().count == 5)
        driver.update(announcement)
        driver.withdraw(announcement, reason: "unpublished")
        http.answer(nil)
        #expect(http.requests.last?.method == "DELETE")
    }
}
