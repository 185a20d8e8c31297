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

@Suite("Announce to the example router", .serialized, .timeLimit(.minutes(10)))
struct AnnounceDriverTests {
    private static func driver(
        _ http: any RouterHTTP, url: String = "http://127.0.0.1:1", offersLayers: Bool = true,
        trust: RouterTrust = RouterTrust(networks: [IPNetwork("127.0.0.1")!])
    ) -> AnnounceDriver {
        var configuration = AnnounceDriver.Configuration(name: "r", url: url, trust: trust)
        configuration.offersLayers = offersLayers
        return AnnounceDriver(configuration, gatewayID: "g", http: http)
    }

    private static func announcement(_ layers: [AnnouncedLayer] = []) -> Announcement {
        var announcement = Announcement.of("p", stage: "s", generation: 7)
        announcement.layers = layers
        return announcement
    }

    @Test(arguments: [true, false])
    func `a router whose name leads elsewhere than at the start may name where it answers`(_ isUnconfigured: Bool) {
        var trust = RouterTrust(networks: [IPNetwork("10.0.0.1")!])
        trust.includesAnswerer = isUnconfigured
        let driver = Self.driver(RecordingHTTP(), trust: trust)
        var isTaken: Bool?
        driver.announce(Self.announcement()) { isTaken = (try? $0.get()) != nil }
        #expect(isTaken == isUnconfigured)
    }

    @Test func `a slash at the end of the router's URL is not written twice`() {
        let http = RecordingHTTP()
        let driver = Self.driver(http, url: "http://127.0.0.1:1/router/")
        driver.checkHealth { _ in }
        driver.announce(Self.announcement()) { _ in }
        let urls = ["http://127.0.0.1:1/router/healthz", "http://127.0.0.1:1/router/v1/participants"]
        #expect(http.requests.map(\.url) == urls)
    }

    @Test func `an announce tells whose media it is, and how that comes in`() throws {
        let http = RecordingHTTP()
        var announcement = Self.announcement()
        (announcement.grant.userID, announcement.grant.attributes) = ("Jürgen", ["seat": "7", "имя": "é"])
        Self.driver(http).announce(announcement) { _ in }
        let body = try JSONValue(parsing: #require(http.requests.first).body)
        #expect(body["userId"] == "Jürgen" && body["attributes"] == ["seat": "7", "имя": "é"])
        #expect(body["stageArn"] == "arn:s" && body["stageId"] == "s" && body["participantId"] == "p")
        #expect(body["sessionId"] == "st" && body["protocol"] == "WHIP" && body["generation"] == 7)
    }

    /// As where its name led nowhere at the start.
    @Test func `an offer names the address from which the router was first asked for its health`() throws {
        let http = RecordingHTTP()
        let driver = Self.driver(http)
        var announcement = Self.announcement()
        announcement.source = SocketAddress(.anyV6, port: 9)
        for address in ["198.51.100.7", "198.51.100.8"] {
            http.ownAddress = IPAddress(address)
            driver.checkHealth { _ in }
        }
        driver.announce(announcement) { _ in }
        #expect(try http.description(2).contains("c=IN IP4 198.51.100.7\r\n"))
    }

    @Test func `a router written from the specification alone gets both tracks, reports and the end`() throws {
        let router = try ExampleRouter()
        let gateway = try Gateway([router])
        gateway.publish("p", stage: "s")
        #expect(gateway.wait { gateway.announced == 1 && gateway.socket.feedback.accepted >= 3 })
        var status: JSONValue?
        let hasEnough = gateway.wait {
            status = gateway.status(of: router)["p"]
            return status?["tracks"]?.array?.allSatisfy {
                ($0["packets"]?.integer ?? 0) >= 20 && ($0["reports"]?.integer ?? 0) >= 2
            } == true
        }
        #expect(hasEnough && status?["cname"]?.string == "p", "\(status?.description ?? "nothing")")
        let tracks = try #require(status?["tracks"]?.array)
        #expect(tracks.map { $0["kind"]?.string } == ["video", "audio"])
        for track in tracks {
            let (first, highest) = (track["first"]?.integer ?? 0, track["highest"]?.integer ?? 0)
            #expect(highest - first + 1 == track["packets"]?.integer, "nothing lost, nothing twice")
        }
        #expect(gateway.keyframeRequests >= 1)
        gateway.publications.removeFirst().end(.closed)
        #expect(gateway.wait { gateway.status(of: router).isEmpty })
    }

    @Test func `layers are announced once their sizes are known, and each gets to the example router`() throws {
        let router = try ExampleRouter()
        let gateway = try Gateway([router])
        gateway.layers = 3
        gateway.publish("p", stage: "s")
        let publication = gateway.publications[0]
        for (layer, width) in [320, 640, 1280].enumerated() {
            _ = gateway.wait(.milliseconds(20)) { false }
            #expect(gateway.announced == 0)
            publication.setPictureSize(width: width, height: 180, of: TrackID(.video, layer: UInt8(layer)), at: gateway.loop.now)
        }
        #expect(gateway.wait { gateway.announced == 1 })
        #expect(
            gateway.wait {
                let tracks = gateway.status(of: router)["p"]?["tracks"]?.array ?? []
                let rids = tracks.filter { ($0["packets"]?.integer ?? 0) > 10 && ($0["reports"]?.integer ?? 0) > 0 }.map {
                    $0["rid"]?.string
                }
                return rids == ["hi", "mid", "low", nil]
            })
        #expect(gateway.announced == 1)
    }

    @Test func `a router that is killed loses its streams to the other, whole`() throws {
        let routers = try [ExampleRouter(), ExampleRouter()]
        let gateway = try Gateway(routers)
        for stage in 0..<10 { for one in 0..<2 { gateway.publish("p\(stage)-\(one)", stage: "s\(stage)") } }
        #expect(gateway.wait { gateway.announced == 20 })
        let before = routers.map { gateway.status(of: $0).count }
        #expect(before.reduce(0, +) == 20 && before.allSatisfy { $0 > 0 })
        routers[0].kill()
        #expect(gateway.wait { gateway.announced == 20 + before[0] })
        var after: [String: JSONValue] = [:]
        let isWhole = gateway.wait {
            after = gateway.status(of: routers[1])
            let tracks = after.values.map { $0["tracks"]?.array ?? [] }
            return after.count == 20
                && tracks.allSatisfy { both in both.count == 2 && both.allSatisfy { $0["packets"]?.integer ?? 0 > 10 } }
        }
        #expect(isWhole, "\(after)")
    }

    @Test func `a router that restarted is told again what it lost`() throws {
        let router = try ExampleRouter()
        let gateway = try Gateway([router])
        gateway.publish("p", stage: "s")
        #expect(gateway.wait { gateway.announced == 1 })
        let port = Int(router.url.split(separator: ":").last ?? "") ?? 0
        router.kill()
        router.process.waitUntilExit()
        let successor = try ExampleRouter(port: port)
        #expect(gateway.wait { gateway.stories.contains(.lost(participantID: "p", router: "r0")) })
        #expect(gateway.wait { gateway.announced == 2 })
        #expect(gateway.status(of: successor)["p"] != nil)
    }

    @Test func `a router that began anew has lost everybody, though it lists nobody`() {
        let (http, announcement) = (RecordingHTTP(), Self.announcement())
        let driver = Self.driver(http)
        var lost: [[ParticipantKey]] = []
        for boot in ["one", "one", "two", "two"] {
            http.bootID = boot
            driver.renewLease([announcement]) { lost.append($0) }
        }
        #expect(lost == [[], [], [announcement.participant], []])
    }

    @Test func `a lower generation is refused`() throws {
        let router = try ExampleRouter()
        let loop = try EventLoop()
        let driver = Self.driver(RouterHTTPClient(HTTPClient(loop: loop), router: "r"), url: router.url)
        var announcement = Self.announcement()
        var results: [Result<LegPlan, AnnounceFailure>] = []
        driver.announce(announcement) { results.append($0) }
        #expect(loop.run(until: { results.count == 1 }, within: .seconds(120)))
        announcement.generation = 6
        driver.announce(announcement) { results.append($0) }
        #expect(loop.run(until: { results.count == 2 }, within: .seconds(120)))
        #expect((try? results[0].get().tracks.map(\.isNACKed)) == [true])
        guard case .failure(.staleGeneration) = results[1] else {
            Issue.record("accepted a lower generation")
            return
        }
    }

    @Test func `the example router holds each participant once, also of an id that two stages had`() throws {
        let router = try ExampleRouter()
        let gateway = try Gateway([router])
        let driver = Self.driver(gateway.http, url: router.url)
        func announce(_ id: String = "p", on stage: String, generation: UInt64) {
            var isTaken: Bool?
            driver.announce(Announcement.of(id, stage: stage, generation: generation)) { isTaken = (try? $0.get()) != nil }
            #expect(gateway.wait { isTaken == true })
        }
        announce("s2-p", on: "s3", generation: 7)
        announce(on: "s1", generation: 7)
        announce(on: "s2", generation: 7)
        driver.withdraw(Announcement.of("p", stage: "s1", generation: 7), reason: .unpublished)
        #expect(gateway.wait { gateway.status(of: router).count == 2 })
        announce(on: "s2", generation: 8)
        let generations = gateway.status(of: router).compactMapValues { $0["generation"]?.integer }
        #expect(generations == ["s2-p": 7, "s2~p": 8])
    }

    @Test func `health checks and leases alone are urgent`() {
        let http = RecordingHTTP()
        let driver = Self.driver(http)
        driver.announce(Self.announcement()) { _ in }
        driver.update(Self.announcement())
        driver.checkHealth { _ in }
        driver.renewLease([]) { _ in }
        driver.withdraw(Self.announcement(), reason: .unpublished)
        #expect(http.requests.map(\.method) == ["POST", "PATCH", "GET", "PUT", "DELETE"])
        #expect(http.requests.filter(\.isUrgent).map(\.method) == ["GET", "PUT"])
    }

    @Test func `what turns out different is patched: mute, keyframe requests, formats`() throws {
        let http = RecordingHTTP()
        let driver = Self.driver(http)
        var announcement = Self.announcement()
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

    @Test(arguments: [
        (["a=simulcast:recv hi;~low"], [1, 0] as [UInt8], [false, true]), (["a=simulcast:recv low"], [0], [false]),
        ([], [0], [false]),
    ])
    func `layers are offered by rid, told in JSON, and those sent that are taken`(
        _ lines: [String], _ places: [UInt8], _ paused: [Bool]
    ) throws {
        let http = RecordingHTTP()
        http.videoLines = lines + ["a=extmap:2 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"]
        let driver = Self.driver(http)
        var layers = [
            AnnouncedLayer(TrackID(.video, layer: 1), rid: .hi), AnnouncedLayer(TrackID(.video, layer: 0), rid: .low),
        ]
        (layers[0].width, layers[0].height, layers[0].isActive) = (1280, 720, true)
        var result: Result<LegPlan, AnnounceFailure>?
        var announcement = Self.announcement(layers)
        driver.announce(announcement) { result = $0 }
        let plan = try #require(try result?.get())
        let body = try JSONValue(parsing: http.requests[0].body)
        let told = try #require(body["layers"]?.array)
        #expect(told.map { $0["rid"]?.string } == ["hi", "low"])
        #expect(told[0]["width"] == 1280 && told[0]["active"] == .bool(true) && told[1]["active"] == .bool(false))
        let sources = try SessionDescription(parsing: Array(http.description(0).utf8)).media[0].attributes.all(Source.self)
        #expect(sources.map { Int64($0.ssrc) } == told.compactMap { $0["ssrc"]?.integer })
        #expect(plan.tracks.map(\.track.layer) == places && plan.tracks.map(\.isPaused) == paused)
        #expect(plan.tracks.allSatisfy { $0.isLayer == !lines.isEmpty && $0.headerExtension.isEmpty == lines.isEmpty })
        #expect(plan.isLayerless == lines.isEmpty)
        #expect(lines.isEmpty ? plan.tracks[0].ssrc == sources[0].ssrc : plan.tracks.last?.ssrc == sources[1].ssrc)
        announcement.layers.swapAt(0, 1)
        announcement.layers[0].bitsPerSecond = 900_000
        driver.update(announcement)
        let change = try JSONValue(parsing: http.requests[1].body)
        #expect(change["layers"]?.array?.map { $0["rid"]?.string } == ["low", "hi"])
        #expect(change["layers"]?.array?[0]["bitrate"] == 900_000)
        #expect(try http.description(1) == http.description(0), "rids and SSRCs stay")
    }

    @Test func `a router that was offered one encoding may take layers when there are more`() throws {
        let http = RecordingHTTP()
        let driver = Self.driver(http)
        var areLayerless: [Bool?] = []
        driver.announce(Self.announcement([])) { areLayerless.append(try? $0.get().isLayerless) }
        #expect(areLayerless == [false])
        #expect(http.requests.count == 1)
    }

    @Test func `a router that is not to have layers is not offered any`() throws {
        let http = RecordingHTTP()
        let driver = Self.driver(http, offersLayers: false)
        let layers = [
            AnnouncedLayer(TrackID(.video, layer: 0), rid: .hi), AnnouncedLayer(TrackID(.video, layer: 1), rid: .low),
        ]
        var areLayerless: [Bool?] = []
        for layers in [layers, []] {
            driver.announce(Self.announcement(layers)) { areLayerless.append(try? $0.get().isLayerless) }
        }
        #expect(areLayerless == [true, true])
        #expect(try !http.description(0).contains("simulcast"))
        #expect(try JSONValue(parsing: http.requests[0].body)["layers"] == nil)
    }

    /// Two on their way at once may arrive in either order, and the router would keep the older one for good.
    @Test func `changes are told one after another, the newest last, and again when there is no answer`() throws {
        let http = RecordingHTTP()
        http.holdsChanges = true
        let driver = Self.driver(http)
        var announcement = Self.announcement()
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
        var lost: [[ParticipantKey]] = []
        driver.renewLease([announcement]) { lost.append($0) }
        #expect(http.requests.suffix(2).map(\.method) == ["PUT", "PATCH"], "told behind the lease")
        http.answer(200)
        driver.renewLease([announcement]) { lost.append($0) }
        #expect(http.requests.last?.method == "PUT", "and once")
        #expect(lost == [[], []])
        driver.update(announcement)
        driver.withdraw(announcement, reason: .unpublished)
        http.answer(nil)
        #expect(http.requests.last?.method == "DELETE")
    }

    @Test func `what was made by an announce whose answer was lost is found behind the lease, and ended`() throws {
        let http = RecordingHTTP()
        let driver = Self.driver(http)
        func announce(losing: Bool) {
            http.losesAnnounces = losing
            driver.announce(Self.announcement()) { _ in }
            http.losesAnnounces = false
        }
        announce(losing: true)
        http.listed = ["p"]
        driver.renewLease([]) { _ in }
        #expect(http.requests.map(\.method) == ["POST", "PUT", "POST", "DELETE"])
        #expect(http.requests.last?.url == "http://127.0.0.1:1/v1/participants/p?generation=7&reason=moved")
        #expect(driver.location(of: Self.announcement().participant) == nil)
        driver.renewLease([]) { _ in }
        #expect(http.requests.last?.method == "PUT", "once")

        announce(losing: true)
        http.listed = ["q"]
        for _ in 0..<2 { driver.renewLease([]) { _ in } }
        #expect(http.requests.map(\.method).suffix(3) == ["POST", "PUT", "PUT"], "the router never got it")

        announce(losing: true)
        announce(losing: false)
        http.listed = ["p", "q"]
        driver.renewLease([Self.announcement()]) { _ in }
        #expect(http.requests.map(\.method).suffix(3) == ["POST", "POST", "PUT"], "it is announced again")
    }

    @Test(arguments: [false, true])
    func `an answer that comes after a later announce's changes nothing`(isUnacceptable: Bool) throws {
        let http = RecordingHTTP()
        let driver = Self.driver(http)
        let earlier = Self.announcement()
        var later = earlier
        later.generation = 8
        http.holdsAnnounces = true
        (http.location, http.videoLines) = ("/v1/participants/earlier", isUnacceptable ? ["m=video 9 RTP/AVPF 96"] : [])
        var isAccepted: [Bool] = []
        driver.announce(earlier) { isAccepted.append((try? $0.get()) != nil) }
        http.holdsAnnounces = false
        (http.location, http.videoLines) = ("/v1/participants/later", [])
        driver.announce(later) { isAccepted.append((try? $0.get()) != nil) }
        let offer = try http.description(1)
        http.answerAnnounce()
        #expect(isAccepted == [true, !isUnacceptable])
        #expect(driver.location(of: later.participant) == "http://127.0.0.1:1/v1/participants/later")
        #expect(http.requests.map(\.method) == ["POST", "POST"], "nothing of the later one is ended")
        driver.update(later)
        #expect(try http.description(2) == offer)
    }

    @Test func `a refusal leaves in doubt what a lost answer has made`() throws {
        let http = RecordingHTTP()
        let driver = Self.driver(http)
        http.listed = ["p"]
        func announce(_ status: Int?) {
            (http.losesAnnounces, http.status) = (status == nil, status ?? 201)
            driver.announce(Self.announcement()) { _ in }
            (http.losesAnnounces, http.status) = (false, 201)
        }
        announce(nil)
        announce(503)
        driver.renewLease([]) { _ in }
        #expect(http.requests.map(\.method) == ["POST", "POST", "PUT", "POST", "DELETE"])
        announce(nil)
        announce(201)
        driver.withdraw(Self.announcement(), reason: .unpublished)
        driver.renewLease([]) { _ in }
        #expect(http.requests.map(\.method).suffix(4) == ["POST", "POST", "DELETE", "PUT"], "that one has replaced it")
    }

    @Test func `what an answer that is refused has made is ended, and may be announced again`() throws {
        let http = RecordingHTTP()
        http.videoLines = ["m=video 9 RTP/AVPF 96"]
        let driver = Self.driver(http)
        var announcement = Self.announcement()
        var results: [Result<LegPlan, AnnounceFailure>] = []
        driver.announce(announcement) { results.append($0) }
        #expect(results == [.failure(.unacceptable("the answer has other m-lines than the offer"))])
        #expect(http.requests.map(\.method) == ["POST", "DELETE"])
        #expect(http.requests.last?.url == "http://127.0.0.1:1/v1/participants/p?generation=7&reason=refused")
        #expect(driver.location(of: announcement.participant) == nil)

        http.losesEnds = true
        driver.announce(announcement) { results.append($0) }
        driver.renewLease([]) { _ in }
        #expect(http.requests.map(\.method).suffix(4) == ["POST", "DELETE", "PUT", "DELETE"], "told again behind the lease")
        http.videoLines = []
        announcement.generation = 8
        driver.announce(announcement) { results.append($0) }
        driver.renewLease([announcement]) { _ in }
        #expect(http.requests.map(\.method).suffix(2) == ["POST", "PUT"], "the announce has replaced it")
    }

    @Test func `what an answer without a Location has made is found behind the lease, and ended`() throws {
        let http = RecordingHTTP()
        let driver = Self.driver(http)
        http.location = nil
        var results: [Result<LegPlan, AnnounceFailure>] = []
        driver.announce(Self.announcement()) { results.append($0) }
        #expect(results == [.failure(.unacceptable("Location is missing or of another origin"))])
        (http.location, http.listed) = ("/v1/participants/p", ["p"])
        driver.renewLease([]) { _ in }
        #expect(http.requests.map(\.method) == ["POST", "PUT", "POST", "DELETE"])
        #expect(http.requests.last?.url == "http://127.0.0.1:1/v1/participants/p?generation=7&reason=moved")
    }

    @Test func `what a Location of another origin names is ended at its path here, and looked for once more`() throws {
        let http = RecordingHTTP()
        let driver = Self.driver(http)
        http.location = "http://192.0.2.9:8080/v1/participants/p"
        let end = "http://127.0.0.1:1/v1/participants/p?generation=7&reason=refused"
        driver.announce(Self.announcement()) { _ in }
        #expect(http.requests.map(\.method) == ["POST", "DELETE"])
        #expect(http.requests.last?.url == end)
        http.listed = ["p"]
        driver.renewLease([]) { _ in }
        #expect(http.requests.map(\.method).suffix(3) == ["PUT", "POST", "DELETE"])
        #expect(http.requests.last?.url == end)
        driver.renewLease([]) { _ in }
        #expect(http.requests.last?.method == "PUT", "the operator is told, and nothing is sent for good")
    }

    @Test func `an end that gets no answer is told again behind each lease, unless the participant is back`() throws {
        let http = RecordingHTTP()
        let driver = Self.driver(http)
        func ends() -> [String] { http.requests.filter { $0.method == "DELETE" }.map(\.url) }
        let url = "http://127.0.0.1:1/v1/participants/p?generation=7&reason=unpublished"
        driver.announce(Self.announcement()) { _ in }
        http.losesEnds = true
        driver.withdraw(Self.announcement(), reason: .unpublished)
        #expect(ends() == [url])
        driver.renewLease([]) { _ in }
        #expect(ends() == [url, url])
        http.losesEnds = false
        for _ in 0..<2 { driver.renewLease([]) { _ in } }
        #expect(ends() == [url, url, url], "until there is an answer, and once")

        driver.announce(Self.announcement()) { _ in }
        http.losesEnds = true
        driver.withdraw(Self.announcement(), reason: .unpublished)
        driver.announce(Self.announcement()) { _ in }
        driver.renewLease([Self.announcement()]) { _ in }
        #expect(ends().count == 4, "the announce has replaced it")
    }
}
