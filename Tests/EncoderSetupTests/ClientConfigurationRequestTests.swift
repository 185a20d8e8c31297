import JSON
import TestSupport
import Testing
import Wire

@testable import EncoderSetup

@Suite("What OBS asks for")
struct ClientConfigurationRequestTests {
    @Test
    func `a request of OBS 32 is read whole`() throws {
        let request = try ClientConfigurationRequest(parsing: OBSRequest.body())
        #expect(request.streamKey == Secret("sk_us-east-1_abc"))
        #expect((request.service, request.schemaVersion, request.client) == ("IVS", "2025-01-25", "obs-studio 32.2.2"))
        #expect(request.canvas == .init(width: 1_920, height: 1_080, frameRate: .init(numerator: 60, denominator: 1)))
        #expect(request.maximumKilobits == nil && request.maximumVideoTracks == nil)
        #expect(request.machine.cores == 8)
        #expect(OBSEncoder(on: request.machine) == .nvenc(isBeforeOBS31: false))
    }

    @Test(arguments: [
        ("Windows", false, #"[{"vendor_id":4318,"device_id":9860}]"#, "30.2.3", OBSEncoder.nvenc(isBeforeOBS31: true)),
        // A GeForce GT 1030 has no encoder.
        ("Windows", false, #"[{"vendor_id":4318,"device_id":7425}]"#, "32.0.0", .x264(cores: 8)),
        ("Windows", false, #"[{"vendor_id":32902,"device_id":1}]"#, "32.0.0", .quickSync),
        ("Windows", false, #"[{"vendor_id":4098,"device_id":1}]"#, "32.0.0", .amf),
        ("Windows", false, #"[{"vendor_id":32902,"device_id":1},{"vendor_id":4098,"device_id":1}]"#, "32.0.0", .amf),
        ("Windows", false, "null", "32.0.0", .x264(cores: 8)),
        ("macOS", true, #"[{"vendor_id":4203,"device_id":0}]"#, "32.0.0", .videoToolbox),
        ("macOS", false, "null", "32.0.0", .x264(cores: 8)),
        ("Debian GNU/Linux", false, #"[{"vendor_id":32902,"device_id":1}]"#, "32.0.0", .x264(cores: 8)),
        (
            "Linux", false, #"[{"vendor_id":4318,"device_id":9860,"driver_version":"550.54"}]"#, "32.0.0",
            .nvenc(isBeforeOBS31: false)
        ),
        ("Linux", false, #"[{"vendor_id":4318,"device_id":9860,"driver_version":"4.5 Mesa 25"}]"#, "32.0.0", .x264(cores: 8)),
    ])
    func `the encoder is one that the machine has`(system: String, isARM: Bool, gpu: String, version: String, encoder: OBSEncoder)
        throws
    {
        let request = try ClientConfigurationRequest(
            parsing: OBSRequest.body(system: system, isARM: isARM, gpu: gpu, version: version))
        #expect(OBSEncoder(on: request.machine) == encoder)
    }

    @Test func `the key ends before a query, whatever letter stands there`() throws {
        let body = #"{"authentication":"k\u0600?a=b"}"#
        #expect(try ClientConfigurationRequest(parsing: Array(body.utf8)).streamKey == Secret("k\u{600}"))
    }

    @Test(arguments: ["{}", #"{"authentication":""}"#, #"{"authentication":7}"#, #"{"authentication":"?a=b"}"#])
    func `a request without a key has an empty one, which nobody has`(text: String) throws {
        #expect(try ClientConfigurationRequest(parsing: Array(text.utf8)).streamKey == Secret(""))
    }

    @Test(arguments: [("null", nil), ("2", 2), ("0", nil), ("-1", nil), ("\"3\"", nil)] as [(String, Int?)])
    func `the streamer's bound on tracks is read where it is one`(text: String, count: Int?) throws {
        let body = #"{"authentication":"k","preferences":{"maximum_video_tracks":\#(text)}}"#
        #expect(try ClientConfigurationRequest(parsing: Array(body.utf8)).maximumVideoTracks == count)
    }

    @Test
    func `a key alone is enough`() throws {
        let request = try ClientConfigurationRequest(parsing: Array(#"{"authentication":"k"}"#.utf8))
        #expect(request.streamKey == Secret("k"))
        #expect(request.canvas == .unknown)
        #expect(OBSEncoder(on: request.machine) == .x264(cores: 4))
    }

    @Test(arguments: [
        "", "[]", "3", "{", String(repeating: "[", count: 40), "{\"a\":\"" + String(repeating: "x", count: 65_536) + "\"}",
    ])
    func `what is no request is refused`(text: String) {
        #expect(throws: ClientConfigurationRequest.Fault.self) { try ClientConfigurationRequest(parsing: Array(text.utf8)) }
    }

    @Test(arguments: [
        #"{"authentication":"k","preferences":{"canvases":[{"width":-1,"height":1e9,"framerate":{"numerator":0,"denominator":0}}]}}"#,
        #"{"authentication":"k","preferences":{"canvases":{},"composition_gpu_index":99,"maximum_aggregate_bitrate":-5}}"#,
        #"{"authentication":"k","capabilities":{"gpu":[7,null,{"vendor_id":1e300}],"cpu":[],"system":"x"},"client":3}"#,
    ])
    func `nonsense beside the key counts as not said`(text: String) throws {
        let request = try ClientConfigurationRequest(parsing: Array(text.utf8))
        #expect(request.canvas == .unknown)
        #expect(request.maximumKilobits == nil)
        #expect(OBSEncoder(on: request.machine) == .x264(cores: 4))
    }
}
