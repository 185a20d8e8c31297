import JSON
import Settings
import Testing

@testable import EncoderSetup

@Suite("The JSON that sets up OBS")
struct OBSConfigurationTests {
    private static func configuration(_ encoder: OBSEncoder = .x264(cores: 8)) -> OBSConfiguration {
        OBSConfiguration(
            identifier: "c1", endpoints: [.init(transport: .rtmp, url: "rtmp://127.0.0.1:1935/app")], encoder: encoder,
            target: StreamTarget(rules: ContractSettings()))
    }

    @Test
    func `the whole document, as OBS 32 reads it`() throws {
        var configuration = Self.configuration()
        configuration.streamKey = "sk_x"
        let expected = try JSONValue(
            parsing: #"""
                {"meta":{"service":"IVS","schema_version":"2025-01-25","config_id":"c1"},"status":{"result":"success"},
                "ingest_endpoints":[{"protocol":"RTMP","url_template":"rtmp://127.0.0.1:1935/app/{stream_key}","authentication":"sk_x"}],
                "encoder_configurations":[{"type":"obs_x264","width":1280,"height":720,
                "framerate":{"numerator":60,"denominator":1},"gpu_scale_type":"OBS_SCALE_BICUBIC",
                "format":"VIDEO_FORMAT_NV12","colorspace":"VIDEO_CS_709","range":"VIDEO_RANGE_PARTIAL","canvas_index":0,
                "settings":{"rate_control":"CBR","bitrate":6000,"keyint_sec":2,"profile":"baseline","bf":0,"preset":"veryfast",
                "tune":"zerolatency"}}],
                "audio_configurations":{"live":[{"codec":"ffmpeg_aac","track_id":1,"channels":2,"settings":{"bitrate":128}}]}}
                """#)
        #expect(JSONValue.object(configuration.document) == expected)
    }

    @Test(arguments: [
        OBSEncoder.x264(cores: 2), .x264(cores: 4), .nvenc(isBeforeOBS31: true), .nvenc(isBeforeOBS31: false), .quickSync, .amf,
        .videoToolbox,
    ])
    func `every encoder is told no B-frames, its profile, its rate and its keyframes`(encoder: OBSEncoder) {
        let settings = encoder.settings(for: StreamTarget(rules: ContractSettings()))
        #expect(settings["profile"] == "baseline")
        #expect(settings["rate_control"] == "CBR")
        #expect(settings["bitrate"] == 6_000)
        #expect(settings["keyint_sec"] == 2)
        #expect(settings["bf"] == 0 || settings["bframes"] == false)
        #expect(settings["lookahead"] != true)
    }

    @Test
    func `an error names no encoder, and a streamer's words are no markup`() {
        var configuration = Self.configuration()
        configuration.status = .error("Stage <b>\"A & B\"</b>\nis full.")
        #expect(configuration.document["encoder_configurations"] == [])
        #expect(configuration.document["ingest_endpoints"] == [])
        #expect(
            configuration.document["status"]
                == ["result": "error", "html_en_us": "Stage &lt;b&gt;\"A &amp; B\"&lt;/b&gt;<br>is full."])
        configuration.status = .warning("Careful")
        #expect(configuration.document["encoder_configurations"]?[0] != nil)
        #expect(configuration.document["status"]?["result"] == "warning")
    }
}
