import AAC
import Admission
import EventLoop
import H264
import Refusals
import StageHub
import TestSupport
import Testing
import Transcoding
import Wire

@testable import RTMPIngest

@Suite("Publish pipeline")
struct PipelineTests {
    static let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x01, 0x40, 0x16, 0xE8, 0x40]
    static let pps: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]
    static let sequenceHeader: [UInt8] = {
        var writer = ByteWriter()
        AVCDecoderConfigurationRecord(sequenceParameterSet: sps, pictureParameterSet: pps).write(into: &writer)
        return [0x17, 0, 0, 0, 0] + writer.bytes
    }()
    static let idr: [UInt8] = [0x17, 1, 0, 0, 0, 0, 0, 0, 3, 0x65, 0x88, 0x80]
    static let slice: [UInt8] = [0x27, 1, 0, 0, 0, 0, 0, 0, 2, 0x41, 0x9A]

    private struct Rig {
        let bench: IngestBench
        let sink = RecordingSink()
        let pipeline: RTMPPublishPipeline

        init(_ inspector: (any MediaInspector)? = nil) throws {
            bench = try IngestBench()
            let lease = PublishLease(participantID: "p1", stageID: "s1", stageSessionID: "st-1", generation: 1)
            let publication = Publication(grant: IngestBench.grant, lease: lease, ingestProtocol: .rtmp, timeline: Timeline())
            publication.add(sink)
            let loop = bench.loop
            pipeline = RTMPPublishPipeline(
                publication: publication, transcoder: try AudioTranscoder(loop: loop, pool: bench.pool), inspector: inspector,
                now: { loop.now })
        }

        @discardableResult
        func video(_ bytes: [UInt8], at timestamp: Int64 = 0) -> Refusal? {
            bytes.withUnsafeBytes { pipeline.receive($0, of: .video, timestamp: timestamp, arrival: time(timestamp)) }
        }

        @discardableResult
        func audio(_ bytes: [UInt8], at timestamp: Int64 = 0) -> Refusal? {
            bytes.withUnsafeBytes { pipeline.receive($0, of: .audio, timestamp: timestamp, arrival: time(timestamp)) }
        }

        func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: (milliseconds + 5_000) * 1_000_000) }
    }

    @Test func `sends parameter sets before an IDR picture, and frames at 90 kHz`() throws {
        let rig = try Rig()
        rig.video(Self.sequenceHeader)
        rig.video(Self.idr, at: 0)
        rig.video(Self.slice, at: 33)
        #expect(rig.sink.formats[.video] == .h264(sps: Self.sps, pps: Self.pps))
        let packets = rig.sink.packets
        #expect(packets.map(\.sequenceNumber) == [0, 1, 2])
        #expect(packets.map(\.marker) == [false, true, true])
        #expect(packets[2].timestamp - packets[0].timestamp == 33 * 90)
        #expect(packets[0].payload == [0x78, 0, 10] + Self.sps + [0, 4] + Self.pps)
        #expect(packets[1].payload == [0x65, 0x88, 0x80])
        #expect(rig.sink.keyframeCount == 1)
    }

    @Test func `counts and drops what comes before its sequence header, and says that it came`() throws {
        let inspector = FakeInspector()
        let rig = try Rig(inspector)
        _ = rig.pipeline.timePassed(.zero)
        #expect(inspector.unreadable == [])
        rig.video(Self.idr)
        _ = rig.pipeline.timePassed(.zero)
        #expect(inspector.unreadable == [.video])
        rig.audio([0xAF, 1, 9, 9])
        #expect(rig.sink.packets.isEmpty)
        #expect(rig.pipeline.counters.unconfigured == 2)
        _ = rig.pipeline.timePassed(.zero)
        #expect(inspector.unreadable == [.video, .audio])
    }

    /// As over a way that carries four fifths of its bitrate.
    @Test func `tells when media comes later and later`() throws {
        let rig = try Rig()
        var told: [Duration] = []
        rig.pipeline.onDelay = { told.append($0) }
        rig.video(Self.sequenceHeader)
        for frame in 0..<400 as Range<Int64> {
            let arrival = rig.time(frame * 250)
            Self.slice.withUnsafeBytes { _ = rig.pipeline.receive($0, of: .video, timestamp: frame * 200, arrival: arrival) }
            if frame % 4 == 0 { _ = rig.pipeline.timePassed(arrival) }
        }
        #expect(told.count == 3 && told.first.map { $0.milliseconds / 1_000 } == 4, "\(told)")
    }

    @Test func `leaves fillers out and keeps SEI`() throws {
        let rig = try Rig()
        rig.video(Self.sequenceHeader)
        let sei: [UInt8] = [0, 0, 0, 3, 0x06, 0x05, 0x80]
        let filler: [UInt8] = [0, 0, 0, 2, 0x0C, 0xFF]
        rig.video([0x27, 1, 0, 0, 0] + sei + filler + [0, 0, 0, 2, 0x41, 0x9A])
        #expect(rig.sink.packets.map(\.payload) == [[0x06, 0x05, 0x80], [0x41, 0x9A]])
    }

    /// The same table as WHIP's (`MediaReceiverTests`): one policy for what is malformed.
    @Test(arguments: LengthPrefixedUnits.cases)
    func `judges and forwards what can be read of an access unit`(_ item: LengthPrefixedUnits) throws {
        let inspector = FakeInspector()
        let rig = try Rig(inspector)
        var writer = ByteWriter()
        AVCDecoderConfigurationRecord(sequenceParameterSet: Self.sps, pictureParameterSet: Self.pps, lengthSize: 2)
            .write(into: &writer)
        rig.video([0x17, 0, 0, 0, 0] + writer.bytes)
        rig.video([0x27, 1, 0, 0, 0] + item.body)
        #expect(inspector.units == item.units)
        #expect(rig.sink.packets.map(\.payload) == item.units)
        #expect(rig.pipeline.counters.malformed == (item.isMalformed ? 1 : 0))
    }

    /// One NAL unit in each message, as FLV lets encoders send them: a SEI, and the slices of a picture.
    @Test func `a picture that comes in several messages is one access unit`() throws {
        let rig = try Rig()
        rig.video(Self.sequenceHeader)
        let sei: [UInt8] = [0x06, 0x05, 0x80]
        let slices: [[UInt8]] = [[0x65, 0x88, 0x80], [0x65, 0x40, 0x80], [0x65, 0x20, 0x80]]
        let keyframe: [[UInt8]] = [sei] + slices
        let picture: [[UInt8]] = [[0x41, 0x9A], [0x41, 0x40]]
        let pictures: [(time: Int64, units: [[UInt8]])] = [(0, keyframe), (33, picture), (66, keyframe), (100, picture)]
        for (time, units) in pictures {
            for unit in units { rig.video([0x27, 1, 0, 0, 0, 0, 0, 0, UInt8(unit.count)] + unit, at: time) }
        }
        let sets: [UInt8] = [0x78, 0, 10] + Self.sps + [0, 4] + Self.pps
        let sent: [[[UInt8]]] = [[sei, sets], slices, picture, [sei, sets], slices, [picture[0]]]
        let packets = rig.sink.packets
        #expect(packets.map(\.payload) == sent.flatMap { $0 }, "all but what ends the last picture")
        #expect(packets.map(\.sequenceNumber) == Array(0..<13))
        // That they come so shows in the first picture, with the messages behind the SEI and behind the first slice.
        let ends = packets.indices.filter { packets[$0].marker }
        #expect(ends == [0, 2, 4, 6, 11])
        #expect(ends.map { packets[$0].timestamp - packets[0].timestamp } == [0, 0, 0, 2_970, 5_940])
        #expect(rig.sink.keyframeStarts == [1, 7], "with its SEI, once that is known to come apart")
        #expect(rig.pipeline.counters.videoFrames == 5, "and the SEI before the first picture")
    }

    /// As drones send it. A picture of one slice waits for nothing.
    @Test func `a SEI in a message of its own belongs to the picture behind it`() throws {
        let rig = try Rig()
        rig.video(Self.sequenceHeader)
        for time in [0, 33, 66] as [Int64] {
            rig.video([0x27, 1, 0, 0, 0, 0, 0, 0, 3, 0x06, 0x05, 0x80], at: time)
            rig.video(Self.slice, at: time)
        }
        let packets = rig.sink.packets
        #expect(packets.map(\.payload[0]) == [0x06, 0x41, 0x06, 0x41, 0x06, 0x41])
        #expect(packets.map(\.marker) == [true, true, false, true, false, true])
        #expect(rig.pipeline.counters.videoFrames == 4, "and the first SEI")
        #expect(packets.map(\.sequenceNumber) == [0, 1, 2, 3, 4, 5])
    }

    @Test func `pictures of one time, each whole, stay apart and wait for nothing`() throws {
        let rig = try Rig()
        rig.video(Self.sequenceHeader)
        rig.video(Self.idr, at: 0)
        rig.video(Self.slice, at: 0)
        rig.video(Self.slice, at: 0)
        #expect(rig.sink.packets.map(\.marker) == [false, true, true, true])
    }

    @Test func `takes enhanced AVC, composition time and new parameter sets in mid-stream`() throws {
        let rig = try Rig()
        rig.video([0x90] + Array("avc1".utf8) + Self.sequenceHeader[5...])
        rig.video([0xA1] + Array("avc1".utf8) + [0, 0, 40, 0, 0, 0, 2, 0x41, 0x9A], at: 100)
        rig.video([0xA3] + Array("avc1".utf8) + [0, 0, 0, 2, 0x41, 0x9A], at: 100)
        let packets = rig.sink.packets
        #expect(packets[0].timestamp - packets[1].timestamp == 40 * 90)
        var other = Self.sps
        other[3] = 0x1E
        var writer = ByteWriter()
        AVCDecoderConfigurationRecord(sequenceParameterSet: other, pictureParameterSet: Self.pps).write(into: &writer)
        rig.video([0x17, 0, 0, 0, 0] + writer.bytes)
        #expect(rig.sink.formats[.video] == .h264(sps: other, pps: Self.pps))
    }

    @Test func `survives broken tags and lengths`() throws {
        let rig = try Rig()
        rig.video(Self.sequenceHeader)
        for bytes in [[0x17], [0x17, 0, 0, 0, 0, 1], [0x27, 1, 0, 0, 0, 0, 0, 0, 9, 0x41], [0xA6, 0x06]] as [[UInt8]] {
            rig.video(bytes)
        }
        for bytes in [[0xAF], [0xAF, 0], [0x95, 0x05]] as [[UInt8]] { rig.audio(bytes) }
        rig.video([])
        rig.audio([])
        #expect(rig.sink.packets.isEmpty)
        #expect(rig.pipeline.counters.malformed == 7)
    }

    /// Enhanced RTMP v2 lets the header be empty.
    @Test(arguments: [Array("OpusHead".utf8) + [1, 2, 0x38, 1, 0x80, 0xBB, 0, 0, 0, 0, 0], []] as [[UInt8]])
    func `passes Opus of Enhanced RTMP without a gap`(_ head: [UInt8]) throws {
        let rig = try Rig()
        rig.audio([0x90] + Array("Opus".utf8) + head)
        #expect(rig.sink.formats[.audio] == .opus(isStereo: true))
        for index in 0..<3 as Range<Int64> {
            rig.audio([0x91] + Array("Opus".utf8) + [0xFC, UInt8(index)], at: index * 20 + index % 2)
        }
        let packets = rig.sink.packets(of: .audio)
        #expect(packets.map { $0.timestamp - packets[0].timestamp } == [0, 960, 1_920])
        #expect(packets.map(\.marker) == [true, false, false])
        #expect(packets.map(\.payload) == [[0xFC, 0], [0xFC, 1], [0xFC, 2]])
    }

    @Test func `a frame of sound has 8,192 bytes at most`() throws {
        let rig = try Rig()
        let head: [UInt8] = Array("OpusHead".utf8) + [1, 2, 0x38, 1, 0x80, 0xBB, 0, 0, 0, 0, 0]
        rig.audio([0x90] + Array("Opus".utf8) + head)
        for (index, count) in [0, 8_192, 8_193, 2].enumerated() {
            let frame = [UInt8](repeating: 0xFC, count: count)
            rig.audio([0x91] + Array("Opus".utf8) + frame, at: Int64(index) * 20)
        }
        #expect(rig.sink.packets(of: .audio).map(\.payload.count) == [8_192, 2])
    }

    @Test func `Opus whose header is empty has as many channels as its multichannel configuration says`() throws {
        let inspector = FakeInspector()
        let rig = try Rig(inspector)
        rig.audio([0x90] + Array("Opus".utf8))
        for configuration in [[1, 2, 0, 0, 0, 3], [0], [1, 6, 0, 0, 0, 0x3F]] as [[UInt8]] {
            rig.audio([0x94] + Array("Opus".utf8) + configuration)
        }
        rig.audio([0x94] + Array("mp4a".utf8) + [1, 8, 0, 0, 0x06, 0x3F])
        #expect(inspector.opusChannelCounts == [2, 6])
    }

    /// AAC-LC at 48 kHz of one channel, two and six.
    @Test(arguments: [(0x88, false), (0x90, true), (0xB0, true)] as [(UInt8, Bool)])
    func `says of AAC what its Opus is`(_ channels: UInt8, _ isStereo: Bool) throws {
        let rig = try Rig()
        rig.audio([0xAF, 0, 0x11, channels])
        #expect(rig.sink.formats[.audio] == .opus(isStereo: isStereo))
    }

    /// Apps on Android send it as their first frame.
    @Test func `AAC's configuration is no frame`() throws {
        let rig = try Rig()
        rig.audio([0xAF, 0, 0x12, 0x10])
        rig.audio([0xAF, 1, 0x12, 0x10], at: 0)
        #expect(rig.pipeline.counters.audioFrames == 0)
        rig.audio([0xAF, 1, 0x21, 0x10, 0x04], at: 23)
        #expect(rig.pipeline.counters.audioFrames == 1)
    }

    /// AAC-LC at 48 kHz in stereo, with and without a checksum.
    @Test(
        arguments: [
            [0xAF, 1, 0xFF, 0xF1, 0x4C, 0x80, 0x01, 0x5F, 0xFC, 0x21, 0x10, 0x04],
            [0xAF, 1, 0xFF, 0xF8, 0x4C, 0x80, 0x01, 0x9F, 0xFC, 0xAB, 0xCD, 0x21, 0x10, 0x04],
        ] as [[UInt8]])
    func `AAC with ADTS headers needs no configuration, and loses them`(_ frame: [UInt8]) throws {
        let inspector = FakeInspector()
        let rig = try Rig(inspector)
        rig.audio(frame)
        rig.audio([0xAF, 0, 0x12, 0x10], at: 10)
        rig.audio(frame, at: 21)
        #expect(inspector.audioConfigurations == [[0x11, 0x90], [0x12, 0x10]], "What is said outright counts")
        #expect(rig.sink.formats[.audio] == .opus(isStereo: true))
        #expect(inspector.audioByteCounts == [3, 3])
        #expect(rig.pipeline.counters.unreadable == 0)
    }

    @Test func `progresses with advancing media time only`() throws {
        let rig = try Rig()
        var progress: [MonotonicTime] = []
        rig.pipeline.onProgress = { progress.append($0) }
        rig.video(Self.sequenceHeader)
        rig.video(Self.idr, at: 0)
        rig.video(Self.slice, at: 0)
        rig.video(Self.slice, at: 40)
        #expect(progress == [rig.time(0), rig.time(40)])
    }

    /// Silence as AAC-LC, 48 kHz, mono, a frame every 21 ms.
    @Test func `audio alone is a publish as soon as the contract lets video be missing`() throws {
        let inspector = FakeInspector()
        let rig = try Rig(inspector)
        var starts = 0
        rig.pipeline.onStart = { starts += 1 }
        rig.audio([0xAF, 0, 0x11, 0x88])
        for time in stride(from: Int64(0), to: 2_000, by: 21) { rig.audio([0xAF, 1, 0x21, 0x10, 0x04], at: time) }
        #expect(starts == 0)
        inspector.needsBothTracks = false
        _ = rig.pipeline.timePassed(rig.time(2_000))
        for time in stride(from: Int64(2_016), to: 4_000, by: 21) { rig.audio([0xAF, 1, 0x21, 0x10, 0x04], at: time) }
        #expect(starts == 1)
    }

    @Test func `ends with what the inspector finds`() throws {
        let inspector = FakeInspector()
        let rig = try Rig(inspector)
        #expect(rig.video([0x90] + Array("hvc1".utf8) + [1]) == Refusal(.internalError, sentence: "HEVC (H.265)"))
        #expect(rig.video([0x91] + Array("hvc1".utf8) + [0, 0, 0, 1]) == nil, "A codec is told once")
        #expect(rig.audio([0x2F, 1]) == Refusal(.internalError, sentence: "MP3"))
        #expect(rig.audio([0x2F, 1]) == nil)
        rig.audio([0xAF, 0, 0x11, 0x88])
        #expect(rig.audio([0x2F, 1]) == Refusal(.internalError, sentence: "MP3"), "Another one came in between")
        rig.video(Self.sequenceHeader)
        inspector.refusesFrames = true
        #expect(rig.video(Self.idr) != nil)
        #expect(rig.sink.packets.isEmpty, "A refused frame is not forwarded")
        rig.pipeline.end(.closed)
        #expect(inspector.hasEnded)
    }
}

final class FakeInspector: MediaInspector {
    private(set) var hasEnded = false
    private(set) var unreadable: Set<MediaKind> = []
    var refusesFrames = false
    var needsBothTracks = true
    var layerNames: [UInt8: String] = [:]
    private(set) var units: [[UInt8]] = []
    private(set) var layers: Set<UInt8> = []
    private(set) var audioConfigurations: [[UInt8]] = []
    private(set) var opusChannelCounts: [Int] = []
    private(set) var audioByteCounts: [Int] = []
    private var refusal: Refusal? { refusesFrames ? Refusal(.internalError) : nil }

    func foundVideoCodec(_ name: String, arrival: MonotonicTime) -> Refusal? {
        Refusal(.internalError, sentence: name)
    }
    func foundAudioCodec(_ name: String, arrival: MonotonicTime) -> Refusal? {
        Refusal(.internalError, sentence: name)
    }
    func videoConfigured(_ parameterSets: [[UInt8]], layer: UInt8, arrival: MonotonicTime) -> Refusal? { nil }
    func audioConfigured(_ configuration: AudioSpecificConfig, arrival: MonotonicTime) -> Refusal? {
        audioConfigurations.append(configuration.bytes)
        return nil
    }
    func opusConfigured(channelCount: Int, arrival: MonotonicTime) -> Refusal? {
        opusChannelCounts.append(channelCount)
        return nil
    }
    func accessUnit(_ found: NALUnitList, layer: UInt8, timestamp: Int64, arrival: MonotonicTime) -> Refusal? {
        layers.insert(layer)
        units += found.units.map { Array($0) }
        return refusal
    }
    func audioFrame(byteCount: Int, timestamp: Int64, arrival: MonotonicTime) -> Refusal? {
        audioByteCounts.append(byteCount)
        return refusal
    }
    func audioNotDecodable(arrival: MonotonicTime) -> Refusal? { nil }
    func unreadableVideo(arrival: MonotonicTime) { unreadable.insert(.video) }
    func unreadableAudio(arrival: MonotonicTime) { unreadable.insert(.audio) }
    func timePassed(_ now: MonotonicTime) -> Refusal? { refusal }
    func ended() { hasEnded = true }
}
