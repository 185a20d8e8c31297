import Admission
import JSON
import Store
import TestSupport
import Testing
import Wire

@testable import ClientConfiguration

@Suite("What a stage's encoders are set to")
struct StageSetupTests {
    private let place: SetupPlace

    init() throws { place = try SetupPlace() }

    private func override(_ id: String) -> JSONObject? { place.setup.override(forIngestConfiguration: id) }

    @Test
    func `an override holds the key, where to publish, and settings that meet the contract`() throws {
        let document = try #require(override("plain"))
        #expect(document["status"] == ["result": "success"])
        #expect(
            document["ingest_endpoints"] == [
                ["protocol": "RTMPS", "url_template": "rtmps://h:1935/app/{stream_key}", "authentication": "key-plain"],
                ["protocol": "RTMP", "url_template": "rtmp://h:1935/app/{stream_key}", "authentication": "key-plain"],
            ])
        let encoder = try #require(document["encoder_configurations"]?[0])
        #expect(encoder["type"] == "obs_x264" && encoder["width"] == 1_280 && encoder["height"] == 720)
        #expect(
            encoder["settings"] == [
                "rate_control": "CBR", "bitrate": 6_000, "keyint_sec": 2, "profile": "baseline", "bf": 0, "preset": "veryfast",
                "tune": "zerolatency",
            ])
        #expect(document["audio_configurations"]?["live"]?.array?.count == 1)
    }

    @Test
    func `a stage's own rules count`() throws {
        let settings = try #require(override("high")?["encoder_configurations"]?[0]?["settings"])
        #expect(settings["profile"] == "high")
        #expect(settings["bitrate"] == 2_800)
    }

    @Test
    func `plain RTMP is offered to keys that take it alone, and to none where the gateway demands TLS`() {
        #expect(override("secure")?["ingest_endpoints"]?.array?.count == 1)
        place.gate.requiresTLS = true
        #expect(override("plain")?["ingest_endpoints"]?.array?.map { $0["protocol"] } == ["RTMPS"])
    }

    @Test
    func `who belongs to no stage is set up by the gateway's rules, who is not there not at all`() {
        #expect(override("detached")?["encoder_configurations"]?[0]?["settings"]?["profile"] == "baseline")
        #expect(override("nobody") == nil && override("") == nil)
    }
}
