import JSON
import Settings
import TestSupport
import Testing

@testable import EncoderSetup

/// Answers to machines, canvases and rates that differ, held against what OBS' source accepts.
@Suite("Answers that OBS takes")
struct OBSAnswersTests {
    struct Machine: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let system: String
        let isARM: Bool
        let gpu: String
        let version: String
        let encoder: String
    }

    static let machines = [
        Machine(
            testDescription: "NVIDIA", system: "Windows", isARM: false, gpu: #"[{"vendor_id":4318,"device_id":9860}]"#,
            version: "32.2.2", encoder: "obs_nvenc_h264_tex"),
        Machine(
            testDescription: "NVIDIA, OBS 30", system: "Windows", isARM: false,
            gpu: #"[{"vendor_id":4318,"device_id":9860}]"#, version: "30.2.3", encoder: "jim_nvenc"),
        Machine(
            testDescription: "Intel", system: "Windows", isARM: false, gpu: #"[{"vendor_id":32902,"device_id":1}]"#,
            version: "32.2.2", encoder: "obs_qsv11_v2"),
        Machine(
            testDescription: "AMD", system: "Windows", isARM: false, gpu: #"[{"vendor_id":4098,"device_id":1}]"#,
            version: "32.2.2", encoder: "h264_texture_amf"),
        Machine(
            testDescription: "Apple", system: "macOS", isARM: true, gpu: "null", version: "32.2.2",
            encoder: "com.apple.videotoolbox.videoencoder.ave.avc"),
        Machine(
            testDescription: "none", system: "Linux", isARM: false, gpu: "null", version: "32.2.2", encoder: "obs_x264"),
    ]

    struct Scene: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Width, height, numerator and denominator of the rate; then what is to come out, and by what OBS divides the rate.
        let canvas: (Int, Int, Int, Int)
        let size: (Int64, Int64)
        let divisor: Int64

        init(_ testDescription: String, _ canvas: (Int, Int, Int, Int), _ size: (Int64, Int64), divisor: Int64 = 1) {
            (self.testDescription, self.canvas, self.size, self.divisor) = (testDescription, canvas, size, divisor)
        }
    }

    static let scenes = [
        Scene("720p30", (1_280, 720, 30, 1), (1_280, 720)), Scene("1080p60", (1_920, 1_080, 60, 1), (1_280, 720)),
        Scene("4K", (3_840, 2_160, 60, 1), (1_280, 720)), Scene("25 fps", (1_920, 1_080, 25, 1), (1_280, 720)),
        Scene("50 fps", (1_920, 1_080, 50, 1), (1_280, 720)), Scene("NTSC", (1_920, 1_080, 60_000, 1_001), (1_280, 720)),
        Scene("portrait", (1_080, 1_920, 30, 1), (720, 1_280)), Scene("small", (640, 360, 30, 1), (640, 360)),
        Scene("120 fps", (1_920, 1_080, 120, 1), (1_280, 720), divisor: 2),
        Scene("144 fps", (1_920, 1_080, 144, 1), (1_280, 720), divisor: 3),
    ]

    @Test(arguments: machines, scenes)
    func `every machine's answer for every canvas`(machine: Machine, scene: Scene) throws {
        let (width, height, numerator, denominator) = scene.canvas
        let request = try ClientConfigurationRequest(
            parsing: OBSRequest.body(
                system: machine.system, isARM: machine.isARM, gpu: machine.gpu, version: machine.version,
                canvas: #"{"width":\#(width),"height":\#(height),"canvas_width":\#(width),"canvas_height":\#(height),"#
                    + #""framerate":{"numerator":\#(numerator),"denominator":\#(denominator)}}"#))
        let target = StreamTarget(rules: ContractSettings(), canvas: request.canvas)
        let configuration = OBSConfiguration(
            identifier: "c", endpoints: [.init(transport: .rtmps, url: "rtmps://h/app/")],
            encoder: OBSEncoder(on: request.machine), target: target)
        let answer = JSONValue.object(configuration.document)
        try answer.checkAsOBSReadsIt()
        let encoder = try #require(answer["encoder_configurations"]?[0])
        #expect(encoder["type"] == .string(machine.encoder))
        #expect(encoder["width"] == .integer(scene.size.0) && encoder["height"] == .integer(scene.size.1))
        let rate = try #require(encoder["framerate"])
        let wanted = (try #require(rate["numerator"]?.integer), try #require(rate["denominator"]?.integer))
        #expect(OBSSource.divisor((Int64(numerator), Int64(denominator)), wanted) == scene.divisor)
    }

    /// A pasted configuration knows nothing of OBS' own rate, and OBS only ever divides that.
    @Test(
        arguments: [(25, 1, 1), (30, 1, 1), (50, 1, 1), (60, 1, 1), (60_000, 1_001, 1), (120, 1, 2), (240, 1, 4)]
            as [(Int64, Int64, Int64)])
    func `an override leaves rates as they are that the contract admits`(numerator: Int64, denominator: Int64, divisor: Int64) {
        let rate = StreamTarget(rules: ContractSettings()).frameRate
        #expect(OBSSource.divisor((numerator, denominator), (Int64(rate.numerator), Int64(rate.denominator))) == divisor)
    }

    @Test
    func `a second track of sound is there where OBS insists on it, and not with an error`() throws {
        let body = String(decoding: OBSRequest.body(), as: UTF8.self)
            .replacing(#""vod_track_audio":false"#, with: #""vod_track_audio":true"#)
        let request = try ClientConfigurationRequest(parsing: Array(body.utf8))
        #expect(request.hasVODTrack)
        var configuration = OBSConfiguration(
            identifier: "c", endpoints: [], encoder: .usual, target: StreamTarget(rules: ContractSettings()))
        configuration.hasVODTrack = request.hasVODTrack
        try JSONValue.object(configuration.document).checkAsOBSReadsIt()
        #expect(configuration.document["audio_configurations"]?["vod"]?.array?.count == 1)
        configuration.status = .error("no")
        #expect(configuration.document["audio_configurations"] == ["live": []])
    }
}
