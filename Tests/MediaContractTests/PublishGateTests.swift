import Testing

@testable import MediaContract

@Suite("PublishGate")
struct PublishGateTests {
    /// What is forwarded, with its media time in milliseconds.
    enum Input: Sendable {
        case idr(Int64, layer: UInt8 = 0)
        case picture(Int64, layer: UInt8 = 0)
        case audio(Int64)
        /// New rules: whether both tracks are needed.
        case needsBoth(Bool)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var needsBoth = false
        var inputs: [Input]
        /// What started the publish, and the input that did; nil while nothing has.
        var start: PublishGate.Start?
        var at: Int?
        var testDescription: String { name }
    }

    static func audio(_ times: StrideTo<Int64>) -> [Input] { times.map { .audio($0) } }

    static let rows: [Row] = [
        Row(
            name: "a second after an IDR", inputs: [.picture(0), .idr(33), .picture(1_000), .picture(1_033)], start: .pictures,
            at: 3),
        Row(name: "nothing before the IDR counts", inputs: [.picture(0), .picture(9_000), .idr(9_033), .picture(10_000)]),
        Row(name: "a jump back begins anew", inputs: [.idr(9_000), .picture(50), .picture(2_000), .idr(2_033), .picture(3_000)]),
        Row(
            name: "a picture that the IDR overtook changes nothing", inputs: [.idr(33), .picture(0), .picture(1_033)],
            start: .pictures, at: 2),
        Row(
            name: "each layer has a clock of its own",
            inputs: [.idr(0), .idr(70_000, layer: 1), .picture(33), .picture(70_033, layer: 1), .picture(1_000)],
            start: .pictures, at: 4),
        Row(
            name: "a layer that rests keeps nobody waiting",
            inputs: [.idr(70_000), .idr(0, layer: 1), .picture(70_500), .picture(1_000, layer: 1)], start: .pictures, at: 3),
        Row(
            name: "RTMP waits for audio", needsBoth: true, inputs: [.idr(0), .picture(1_000), .picture(1_033), .audio(0)],
            start: .pictures, at: 3),
        Row(name: "RTMP has no audio alone", needsBoth: true, inputs: audio(stride(from: 0, to: 60_000, by: 20))),
        Row(name: "RTMP has no video alone", needsBoth: true, inputs: [.idr(0), .picture(1_000), .picture(60_000)]),
        Row(name: "audio alone", inputs: audio(stride(from: 0, to: 1_020, by: 20)), start: .audioAlone, at: 50),
        Row(name: "audio alone, silent by DTX", inputs: audio(stride(from: 0, to: 1_300, by: 400)), start: .audioAlone, at: 3),
        Row(name: "less than a second of it", inputs: audio(stride(from: 0, to: 1_000, by: 20))),
        Row(name: "a packet a second is no flow", inputs: audio(stride(from: 0, to: 60_000, by: 1_000))),
        Row(
            name: "packets that were overtaken change nothing",
            inputs: [.audio(0), .audio(500), .audio(480), .audio(980), .audio(1_000)],
            start: .audioAlone, at: 4),
        Row(
            name: "a jump begins anew",
            inputs: [.audio(0), .audio(900), .audio(90_000), .audio(90_900), .audio(80), .audio(1_020)]),
        Row(
            name: "audio beside video that cannot be decoded",
            inputs: stride(from: Int64(0), to: 60_000, by: 500).flatMap { [Input.audio($0), .picture($0)] }),
        Row(
            name: "video without an IDR that is muted",
            inputs: [
                .audio(0), .picture(10), .audio(500), .picture(510), .audio(600), .audio(1_100), .audio(1_599), .audio(1_600),
            ],
            start: .audioAlone, at: 7),
        Row(
            name: "the first picture comes a moment before audio alone would count",
            inputs: [.audio(0), .audio(980), .idr(0), .audio(1_000), .picture(1_000)], start: .pictures, at: 4),
        Row(
            name: "RTMP, once a track may be missing", needsBoth: true,
            inputs: [.audio(0), .audio(900), .audio(1_800), .needsBoth(false), .audio(1_820)], start: .audioAlone, at: 4),
        Row(
            name: "both tracks are needed again", inputs: [.idr(0), .needsBoth(true), .picture(1_000), .picture(2_000)]),
    ]

    @Test(arguments: rows)
    func `opens once, with the input that makes the publish real`(_ row: Row) {
        var gate = PublishGate(needsBothTracks: row.needsBoth)
        var starts: [(PublishGate.Start, Int)] = []
        for (index, input) in row.inputs.enumerated() {
            if let start = Self.show(input, to: &gate) { starts.append((start, index)) }
        }
        #expect(starts.map(\.0) == (row.start.map { [$0] } ?? []))
        #expect(starts.first?.1 == row.at)
        #expect(gate.isOpen == (row.start != nil))
    }

    private static func show(_ input: Input, to gate: inout PublishGate) -> PublishGate.Start? {
        switch input {
        case .idr(let time, let layer): return gate.videoForwarded(isDecodableIDR: true, layer: layer, mediaTime: time * 90)
        case .picture(let time, let layer):
            return gate.videoForwarded(isDecodableIDR: false, layer: layer, mediaTime: time * 90)
        case .audio(let time): return gate.audioForwarded(mediaTime: time * 48)
        case .needsBoth(let needsBoth): gate.needsBothTracks = needsBoth
        }
        return nil
    }
}
