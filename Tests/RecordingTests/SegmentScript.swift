import AAC
import MP4
import Wire

@testable import Recording

/// Feeds a machine with pictures and sound by the second, and keeps what comes out.
struct SegmentScript {
    struct Segment: Equatable {
        var number: Int
        var map: Int
        var isDiscontinuous: Bool
        var isIndependent: Bool
        var time: Int64
        var duration = Duration.zero
        var fragments: [[UInt8]] = []
        var isEnded = false
    }

    static let sets = ParameterSets(
        sequence: [
            [
                0x67, 0x42, 0xC0, 0x0D, 0xD9, 0x01, 0x41, 0xFB, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00, 0x03, 0x03,
                0xC0, 0xF1, 0x42, 0xA4, 0x80,
            ]
        ], picture: [[0x68, 0xCB, 0x83, 0xCB, 0x20]])
    /// Of 640x360, where the others are of 320x180.
    static let larger: [[UInt8]] = [
        [
            0x67, 0x42, 0xC0, 0x1E, 0xD9, 0x00, 0xA0, 0x2F, 0xF9, 0x70, 0x11, 0x00, 0x00, 0x03, 0x00, 0x01, 0x00, 0x00, 0x03,
            0x00,
            0x3C, 0x0F, 0x16, 0x2E, 0x48,
        ]
    ]
    static let aac = SampleDescription.aac(AudioSpecificConfig(lowComplexityAt: 48_000, channelCount: 2)!)
    static let mono = SampleDescription.aac(AudioSpecificConfig(lowComplexityAt: 48_000, channelCount: 1)!)

    var machine: SegmentMachine
    private(set) var segments: [Segment] = []
    private(set) var initializations: [InitializationSegment] = []
    /// The greatest number of bytes that one action wrote.
    private(set) var largestFragment = 0
    var sets = Self.sets
    var keyInterval = 60

    init(target: Int = 6, expectsVideo: Bool = true, continuing former: SegmentMachine.Position = .init()) {
        machine = SegmentMachine(target: .seconds(target), expectsVideo: expectsVideo, continuing: former)
    }

    mutating func describeAudio(_ description: SampleDescription = SegmentScript.aac) {
        take(machine.audioDescribed(description))
    }

    /// 30 pictures a second and 46.875 frames of sound, in the order of their times.
    /// - Parameters:
    ///   - start: of the encoder's time, in ticks of 90 kHz.
    ///   - firstKey: pictures before the first keyframe.
    mutating func play(
        seconds: Double, from start: Int64 = 0, firstKey: Int = 0, hasVideo: Bool = true, hasAudio: Bool = true
    ) {
        let (pictures, frames) = (hasVideo ? Int(seconds * 30) : 0, hasAudio ? Int(seconds * 48_000 / 1_024) : 0)
        var (picture, frame) = (0, 0)
        while picture < pictures || frame < frames {
            if frame >= frames || (picture < pictures && picture * 3_000 <= frame * 1_920) {
                let isKey = picture >= firstKey && (picture - firstKey) % keyInterval == 0
                showPicture(at: start + Int64(picture) * 3_000, isKey: isKey)
                picture += 1
            } else {
                take(machine.audioCame([1, 2, 3], at: EncoderTime(ticks: start + Int64(frame) * 1_920), duration: 1_024))
                frame += 1
            }
        }
    }

    mutating func showPicture(at time: Int64, isKey: Bool, byteCount: Int = 10) {
        take(
            machine.videoCame(
                AccessUnit(
                    timestamp: time, bytes: [UInt8](repeating: 7, count: byteCount), isKeyframe: isKey, parameterSets: sets),
                at: EncoderTime(ticks: time)))
    }

    mutating func hear(at time: Int64, byteCount: Int) {
        take(machine.audioCame([UInt8](repeating: 7, count: byteCount), at: EncoderTime(ticks: time), duration: 1_024))
    }

    mutating func interrupt() { take(machine.interrupted()) }
    mutating func finish() { take(machine.finish()) }

    var totalDuration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    private mutating func take(_ actions: [SegmentMachine.Action]) {
        for action in actions {
            switch action {
            case .initialization(_, let segment): initializations.append(segment)
            case .segmentBegan(let number, let map, let isDiscontinuous, let isIndependent, let time):
                segments.append(
                    Segment(
                        number: number, map: map, isDiscontinuous: isDiscontinuous, isIndependent: isIndependent,
                        time: time.ticks))
            case .fragment(let fragment, let duration):
                let bytes = fragment.parts.reduce(into: [UInt8]()) { $0 += $1 }
                largestFragment = max(largestFragment, bytes.count)
                segments[segments.count - 1].fragments.append(bytes)
                segments[segments.count - 1].duration = duration
            case .segmentEnded: segments[segments.count - 1].isEnded = true
            }
        }
    }
}

/// What a fragment says of its tracks, read from its bytes: enough for tests.
struct ReadFragment {
    struct Run: Equatable {
        var track: UInt32
        var decodeTime: Int64
        var duration: Int64
        var sampleCount: Int
    }

    private(set) var runs: [Run] = []

    init(_ bytes: [UInt8]) {
        for traf in Self.boxes("traf", in: Self.boxes("moof", in: bytes[...]).first?.dropFirst(8) ?? []) {
            let content = traf.dropFirst(8)
            guard let tfhd = Self.boxes("tfhd", in: content).first, let tfdt = Self.boxes("tfdt", in: content).first,
                let trun = Self.boxes("trun", in: content).first
            else { continue }
            let flags = Self.number(trun.dropFirst(8).prefix(4)) & 0xFFFFFF
            let size = 8 + (flags & 0x400 == 0 ? 0 : 4) + (flags & 0x800 == 0 ? 0 : 4)
            let count = Int(Self.number(trun.dropFirst(12).prefix(4)))
            let samples = trun.dropFirst(20)
            let durations = (0..<count).map { Self.number(samples.dropFirst($0 * size).prefix(4)) }
            runs.append(
                Run(
                    track: UInt32(Self.number(tfhd.dropFirst(12).prefix(4))),
                    decodeTime: Self.number(tfdt.dropFirst(12).prefix(8)),
                    duration: durations.reduce(0, +), sampleCount: count))
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }

    private static func boxes(_ type: String, in bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var (rest, found) = (bytes, [ArraySlice<UInt8>]())
        while rest.count >= 8 {
            let size = Int(number(rest.prefix(4)))
            guard size >= 8, size <= rest.count else { break }
            if String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self) == type { found.append(rest.prefix(size)) }
            rest = rest.dropFirst(size)
        }
        return found
    }
}

extension SegmentScript {
    /// The runs of one track, in order.
    func runs(of track: UInt32) -> [ReadFragment.Run] {
        segments.flatMap { $0.fragments.flatMap { ReadFragment($0).runs.filter { $0.track == track } } }
    }

    /// No decoding time goes back, and none overlaps the sample before it.
    func goesOn(_ track: UInt32) -> Bool {
        let runs = runs(of: track)
        return zip(runs, runs.dropFirst()).allSatisfy { $0.decodeTime + $0.duration <= $1.decodeTime }
    }
}
