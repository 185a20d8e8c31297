import Admission
import EventLoop
import GatewayMetrics
import HTTP
import JSON
import Monitoring
import Refusals
import Store
import TestSupport
import Testing
import Wire

@testable import ClientConfiguration
@testable import MediaContract

@Suite("GetClientConfiguration", .timeLimit(.minutes(10)))
struct ClientConfigurationEndpointTests {
    private let place: SetupPlace

    init() throws { place = try SetupPlace() }

    private func words(_ answer: JSONValue) -> String { answer["status"]?["html_en_us"]?.string ?? "" }

    @Test
    func `a good key is answered with where to go, its key and settings for the machine that asks`() throws {
        let body = String(decoding: OBSRequest.body(key: "key-plain?bandwidthtest=1"), as: UTF8.self)
        let response = try #require(try place.post(body))
        let answer = try JSONValue(parsing: response.body)
        #expect(answer["status"] == ["result": "success"])
        #expect(answer["meta"]?["service"] == "IVS" && answer["meta"]?["schema_version"] == "2025-01-25")
        #expect(answer["meta"]?["config_id"]?.string?.utf8.count == 12)
        #expect(answer["ingest_endpoints"]?.array?.map { $0["protocol"] } == ["RTMPS", "RTMP"])
        #expect(answer["ingest_endpoints"]?[0]?["authentication"] == "key-plain")
        #expect(answer["encoder_configurations"]?.array?.map { $0["height"] } == [720, 360, 180])
        let encoder = try #require(answer["encoder_configurations"]?[0])
        #expect(encoder["type"] == "obs_nvenc_h264_tex" && encoder["width"] == 1_280 && encoder["height"] == 720)
        #expect(encoder["framerate"] == ["numerator": 60, "denominator": 1])
        #expect(place.counted("success"))
    }

    @Test
    func `a stage's own rules count`() throws {
        let settings = try place.ask("key-high")["encoder_configurations"]?[0]?["settings"]
        #expect(settings?["profile"] == "high" && settings?["bitrate"] == 2_800)
    }

    @Test(arguments: [("nobody's", "SD-1001"), ("", "SD-1001"), ("key-detached", "SD-1002")])
    func `who may not publish reads why, and learns nothing else`(key: String, code: String) throws {
        let answer = try place.ask(key)
        #expect(answer["status"]?["result"] == "error")
        #expect(words(answer).hasPrefix("\(code): "))
        #expect(answer["encoder_configurations"] == [] && answer["ingest_endpoints"] == [])
        #expect(place.board.refused.map(\.refusal.code.identifier) == [code])
        #expect(place.counted("error"))
        let attempts = String(decoding: place.metrics.exposition(), as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("stagedoor_publish_attempts_total{") && $0.contains("result=\"refused\"") }
        #expect(attempts.isEmpty, "nobody has tried to publish")
    }

    @Test
    func `a gateway that drains says so before OBS connects`() throws {
        place.gate.setClosed(true, because: .draining)
        #expect(words(try place.ask("key-plain")).hasPrefix("SD-1070: "))
    }

    @Test
    func `somebody who is live with the key is warned of`() throws {
        place.leases.claimPublish(try place.grant, protocol: .rtmp, holder: Encoder(), takeOver: false) { _ in }
        let answer = try place.ask("key-plain")
        #expect(answer["status"]?["result"] == "warning")
        #expect(words(answer).hasPrefix("SD-1004: Another encoder is live"))
        #expect(answer["encoder_configurations"]?.array?.count == 1, "OBS may go on")
        #expect(try place.ask("key-secure")["status"]?["result"] == "success", "on the same stage, with a key of its own")
        #expect(place.counted("warning"))
    }

    @Test
    func `what the last publish was ended for is told, until one goes well`() throws {
        let (grant, refusal) = (try place.grant, Refusal(.bFrames, sentence: "2 B-frames <allowed: none>"))
        try publish { lease in
            place.leases.publishFailed(lease, refusal)
            place.board.note(
                RefusedAttempt(
                    refusal, of: grant, by: .rtmp, from: SocketAddress(.loopback, port: 1), userAgent: "", wasLive: true))
        }
        let publisher = ContractPublisher(credential: grant.credentialHash, source: .loopback, product: "OBS")
        place.contract.violated(publisher, refusal, at: EventLoop.monotonicNow())
        let answer = try place.ask("key-plain")
        #expect(answer["status"]?["result"] == "warning")
        #expect(words(answer).contains("SD-1042: 2 B-frames &lt;allowed: none&gt;"), "\(words(answer))")
        #expect(
            place.contract.rememberedRefusal(for: publisher, at: EventLoop.monotonicNow()) == nil,
            "whoever was told in the dialog is not told again while connecting")
        try publish { _ in }
        #expect(try place.ask("key-plain")["status"]?["result"] == "success")
    }

    @Test
    func `of another node's publish the code alone is known`() throws {
        try publish { place.leases.publishFailed($0, Refusal(.bFrames)) }
        #expect(words(try place.ask("key-plain")).contains("ended. B_FRAME_PRESENT"))
    }

    @Test(arguments: [
        ("{}", HTTPMethod.get, "application/json", 405), ("{}", .post, "text/plain", 415), ("{", .post, "application/json", 400),
        ("[]", .post, "application/json", 400), (String(repeating: "[", count: 100), .post, "application/json", 400),
        ("{\"a\":\"" + String(repeating: "x", count: 65_536) + "\"}", .post, "application/json", 400),
    ])
    func `what is no such request is refused by its status`(body: String, method: HTTPMethod, type: String, status: Int) throws {
        let response = try place.post(body, method: method, headers: ["Content-Type": type])
        #expect(response?.status.code == status)
    }

    @Test
    func `who asks too often is told to wait, and another path is not ours`() throws {
        place.isAdmitted = false
        let response = try place.post("{}")
        #expect(response?.status.code == 429 && response?.headers["Retry-After"] == "2")
        #expect(try place.post("{}", path: "/api/v3/Other") == nil)
    }

    private final class Encoder: LeaseHolder {
        let lastProgress = MonotonicTime.zero
        let hasEnded = false
        func end(_ reason: LeaseEnd) {}
    }

    /// One publish with the key, to its end.
    private func publish(_ fate: @escaping (PublishLease) -> Void) throws {
        let granted = Lock<PublishLease?>(nil)
        place.leases.claimPublish(try place.grant, protocol: .rtmp, holder: Encoder(), takeOver: false) { answer in
            if case .granted(let lease) = answer { granted.withLock { $0 = lease } }
        }
        let lease = try #require(granted.withLock { $0 })
        place.leases.publishStarted(lease)
        fate(lease)
        place.leases.release(lease)
    }
}
