import AMF0
import Admission
import EventLoop
import FLV
import H264
import MediaContract
import Refusals
import Settings
import StageHub
import TestSupport
import Testing
import Transcoding
import Wire

@testable import RTMPIngest

/// Tracks beside the first, as OBS sends them: `Multitrack | OneTrack`, `avc1`, the number; track 0 is legacy AVC.
@Suite("Enhanced RTMP multitrack")
struct MultitrackTests {
    /// An encoder of several tracks, and what arrives of it.
    private final class Rig {
        let bench: IngestBench
        let sink = RecordingSink()
        let publication: Publication
        let pipeline: RTMPPublishPipeline
        private(set) var stories: [String] = []
        private(set) var progress: [MonotonicTime] = []

        init(_ inspector: (any MediaInspector)? = nil) throws {
            bench = try IngestBench()
            let lease = PublishLease(participantID: "p1", stageID: "s1", stageSessionID: "st-1", generation: 1)
            publication = Publication(grant: IngestBench.grant, lease: lease, ingestProtocol: .rtmp, timeline: Timeline())
            publication.add(sink)
            let loop = bench.loop
            pipeline = RTMPPublishPipeline(
                publication: publication, transcoder: try AudioTranscoder(loop: loop, pool: bench.pool), inspector: inspector,
                now: { loop.now })
            pipeline.onPassedOver = { [unowned self] in stories.append($0) }
            pipeline.onProgress = { [unowned self] in progress.append($0) }
        }

        func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: (milliseconds + 5_000) * 1_000_000) }

        @discardableResult
        func video(_ bytes: [UInt8], at timestamp: Int64 = 0) -> Refusal? {
            bytes.withUnsafeBytes { pipeline.receive($0, of: .video, timestamp: timestamp, arrival: time(timestamp)) }
        }

        func audio(_ bytes: [UInt8], at timestamp: Int64) {
            bytes.withUnsafeBytes { _ = pipeline.receive($0, of: .audio, timestamp: timestamp, arrival: time(timestamp)) }
        }

        @discardableResult
        func header(_ track: UInt8, _ size: PictureSize, at timestamp: Int64 = 0) -> Refusal? {
            video(MultitrackTests.header(track, size), at: timestamp)
        }

        @discardableResult
        func frame(_ track: UInt8, at timestamp: Int64, isKeyframe: Bool = false, byteCount: Int = 100) -> Refusal? {
            let payload = MultitrackTests.unit(isKeyframe: isKeyframe, byteCount: byteCount)
            return video(MultitrackTests.head(track, 1, isKeyframe: isKeyframe) + [0, 0, 0] + payload, at: timestamp)
        }

        /// A second of all tracks at 10 fps, a keyframe first; a track's bytes a frame follow from its number.
        func second(_ number: Int64, of tracks: [UInt8], byteCount: (UInt8) -> Int = { 500 - 100 * Int($0) }) {
            for step in 0..<10 as Range<Int64> {
                for track in tracks {
                    frame(track, at: number * 1_000 + step * 100, isKeyframe: step == 0, byteCount: byteCount(track))
                }
            }
            #expect(pipeline.timePassed(time((number + 1) * 1_000)) == nil)
        }

        func packets(_ layer: UInt8) -> [RecordingSink.Packet] { sink.packets(of: TrackID(.video, layer: layer)) }
    }

    private static let canvas = PictureSize(width: 1_280, height: 720)
    private static let half = PictureSize(width: 640, height: 360)
    private static let quarter = PictureSize(width: 320, height: 180)
    private static let upright = PictureSize(width: 720, height: 1_280)

    private static func sets(_ size: PictureSize) -> (sps: [UInt8], pps: [UInt8]) {
        var sps = SPSBuilder()
        (sps.width, sps.height) = (size.width, size.height)
        return (sps.bytes, PPSBuilder().bytes)
    }

    private static func record(_ size: PictureSize) -> [UInt8] {
        var writer = ByteWriter()
        let (sps, pps) = sets(size)
        AVCDecoderConfigurationRecord(sequenceParameterSet: sps, pictureParameterSet: pps).write(into: &writer)
        return writer.bytes
    }

    private static func head(_ track: UInt8, _ type: UInt8, isKeyframe: Bool) -> [UInt8] {
        if track == 0 { return [isKeyframe ? 0x17 : 0x27, type] }
        return [isKeyframe ? 0x96 : 0xA6, type] + Array("avc1".utf8) + [track]
    }

    static func header(_ track: UInt8, _ size: PictureSize) -> [UInt8] {
        head(track, 0, isKeyframe: true) + (track == 0 ? [0, 0, 0] : []) + record(size)
    }

    /// One slice with its length before it.
    private static func unit(isKeyframe: Bool, byteCount: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt32(byteCount))
        writer.write(contentsOf: isKeyframe ? [0x65, 0x88] : [0x41, 0x9A])
        return writer.bytes + [UInt8](repeating: 0x5A, count: byteCount - 2)
    }

    @Test func `three tracks are three layers of one clock, each with its own numbers, sizes and counters`() throws {
        let rig = try Rig()
        for (track, size) in [(0, Self.canvas), (1, Self.half), (2, Self.quarter)] as [(UInt8, PictureSize)] {
            rig.header(track, size)
        }
        for second in 0..<2 as Range<Int64> { rig.second(second, of: [0, 1, 2]) }
        let layers = rig.publication.layers
        #expect(layers.map(\.name) == [.hi, .mid, .low] && layers.map(\.rid) == ["0", "1", "2"])
        #expect(layers.map(\.width) == [1_280, 640, 320] && layers.allSatisfy { $0.isActive && $0.framesPerSecond == 10 })
        for layer in 0..<3 as Range<UInt8> {
            let packets = rig.packets(layer)
            #expect(packets.map(\.sequenceNumber) == Array(0..<Int64(packets.count)))
            #expect(packets.filter(\.marker).map { $0.timestamp - packets[0].timestamp } == (0..<20).map { $0 * 9_000 })
            #expect(packets[0].timestamp == rig.packets(0)[0].timestamp, "One clock")
            let (sps, pps) = Self.sets([Self.canvas, Self.half, Self.quarter][Int(layer)])
            #expect(rig.sink.formats[TrackID(.video, layer: layer)] == .h264(sps: sps, pps: pps))
            let counters = rig.publication.counters[TrackID(.video, layer: layer)]
            #expect(counters.frames.value == 20 && counters.packets.value == 21)
            #expect((20 * (500 - 100 * Int(layer))..<21 * 600).contains(counters.bytes.value))
        }
        #expect(rig.stories.isEmpty && rig.pipeline.counters.otherTracks == 0)
    }

    @Test func `messages of many tracks are the same as many messages`() throws {
        let rig = try Rig()
        let avc1 = Array("avc1".utf8)
        func part(_ track: UInt8, _ payload: [UInt8]) -> [UInt8] {
            [track, 0, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
        }
        rig.video([0x96, 0x10] + avc1 + part(1, Self.record(Self.half)) + part(0, Self.record(Self.canvas)))
        let frames = [50, 40].map { Self.unit(isKeyframe: true, byteCount: $0) }
        rig.video([0x96, 0x13] + avc1 + part(0, frames[0]) + part(1, frames[1]), at: 40)
        rig.video([0x96, 0x21] + avc1 + part(1, [0, 0, 5] + frames[1]) + avc1 + part(0, [0, 0, 10] + frames[0]), at: 80)
        #expect(rig.publication.layers.map(\.rid) == ["0", "1"])
        #expect(rig.packets(0).filter(\.marker).map(\.payload.count) == [50, 50])
        #expect(rig.packets(1).filter(\.marker).map(\.payload.count) == [40, 40])
        let delays = [0, 1].map { layer in rig.packets(layer).filter(\.marker).map(\.timestamp) }.map { ($0[1] - $0[0]) / 90 }
        #expect(delays == [50, 45], "Each has its own composition time")
        let bytes = [0, 1].map { rig.publication.counters[TrackID(.video, layer: $0)].bytes.value }
        #expect(bytes.allSatisfy { $0 > 80 })
        #expect(rig.pipeline.counters.malformed == 0)
    }

    @Test func `a late track joins, and one that changes its size keeps its place`() throws {
        let rig = try Rig()
        rig.header(0, Self.canvas)
        rig.second(0, of: [0])
        rig.frame(1, at: 1_000, isKeyframe: true)
        #expect(rig.packets(1).isEmpty && rig.pipeline.counters.unconfigured == 1, "Its parameter sets come later")
        rig.header(1, Self.quarter, at: 1_000)
        rig.second(1, of: [0, 1])
        #expect(rig.publication.layers.map(\.name) == [.hi, .low])
        #expect(rig.packets(1).count(where: \.marker) == 10)
        rig.header(1, Self.half, at: 2_000)
        rig.second(2, of: [0, 1])
        #expect(rig.publication.layers.map(\.width) == [1_280, 640])
        #expect(rig.packets(1).map(\.sequenceNumber) == Array(0..<Int64(rig.packets(1).count)))
    }

    @Test func `a track of another codec is passed over in words, and comes back with H264`() throws {
        let rig = try Rig(FakeInspector())
        let announced: AMF0Object = ["2": .object(["width": 640.0, "height": 360.0, "videodatarate": 700.0])]
        let metadata: [AMF0Value] = ["onMetaData", .ecmaArray(["videoTrackIdInfoMap": .object(announced)])]
        metadata.amf0Bytes.withUnsafeBytes { rig.pipeline.receiveData($0) }
        rig.header(0, Self.canvas)
        rig.header(1, Self.half)
        #expect(rig.video([0x96, 0x00] + Array("hvc1".utf8) + [2, 1]) == nil, "The publish lives")
        #expect(rig.video([0x96, 0x00] + Array("av01".utf8) + [1, 1]) == nil)
        rig.second(0, of: [0])
        #expect(
            rig.stories == [
                "Not forwarded: video track 1 (AV1): layers are H.264; video track 2 (HEVC (H.265), 640x360, 700 kbit/s): "
                    + "layers are H.264."
            ])
        #expect(rig.packets(1).isEmpty && rig.packets(0).count(where: \.marker) == 10)
        rig.header(1, Self.half, at: 1_000)
        rig.second(1, of: [0, 1])
        #expect(rig.packets(1).count(where: \.marker) == 10)
        #expect(rig.video([0x90] + Array("hvc1".utf8) + [1]) != nil, "Track 0 decides about the publish")
    }

    @Test func `an upright canvas is no layer, and is named`() throws {
        let rig = try Rig()
        rig.header(0, Self.canvas)
        rig.header(1, Self.upright)
        rig.header(2, Self.half)
        rig.second(0, of: [0, 1, 2])
        #expect(rig.publication.layers.map(\.rid) == ["0", "2"])
        #expect(rig.sink.packets.allSatisfy { $0.track.layer < 2 })
        #expect(rig.pipeline.counters.otherTracks == 11)
        #expect(rig.stories == ["Not forwarded: video track 1 (720x1280): its shape is not that of track 0."])
    }

    @Test func `of four tracks the three of the highest bitrates go on`() throws {
        let rig = try Rig()
        let sizes = [Self.canvas, PictureSize(width: 160, height: 90), Self.half, Self.quarter]
        for (track, size) in sizes.enumerated() { rig.header(UInt8(track), size) }
        let rates = [500, 20, 400, 300]
        for second in 0..<4 as Range<Int64> { rig.second(second, of: [0, 1, 2, 3]) { rates[Int($0)] } }
        let before = rig.packets(1).count
        // Its place is another track's now, which begins there with a keyframe.
        rig.frame(3, at: 4_000)
        #expect(rig.packets(1).count == before)
        for second in 4..<12 as Range<Int64> { rig.second(second, of: [0, 1, 2, 3]) { rates[Int($0)] } }
        #expect(rig.publication.layers.map(\.width) == [1_280, 640, 320])
        #expect(rig.publication.layers.map(\.rid) == ["0", "2", "3"])
        let packets = rig.packets(1)
        #expect(packets.map(\.sequenceNumber) == Array(0..<Int64(packets.count)))
        #expect(packets[before].payload.first == 0x78 && packets[before + 1].payload[0] & 0x1F == 5)
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
        #expect(rig.stories.last == "Not forwarded: video track 1 (160x90): there are three layers of higher bitrates.")
    }

    @Test func `track 0 that stops is a paused layer, and the publish goes on`() throws {
        let rig = try Rig()
        rig.header(0, Self.canvas)
        rig.header(1, Self.half)
        rig.second(0, of: [0, 1])
        for second in 1..<4 as Range<Int64> { rig.second(second, of: [1]) }
        #expect(rig.publication.layers.map(\.isActive) == [false, true])
        #expect(rig.progress.last == rig.time(3_900))
        rig.second(4, of: [0, 1])
        #expect(rig.publication.layers.map(\.isActive) == [true, true])
        #expect(rig.packets(0).filter(\.marker).count == 20)
        let (first, last) = (rig.packets(0)[0].timestamp, rig.packets(0)[rig.packets(0).count - 1].timestamp)
        #expect(last - first == 4_900 * 90, "On the clock of the others")
    }

    @Test func `more tracks than are followed are counted and told`() throws {
        let rig = try Rig()
        for track in 0..<UInt8(30) { rig.header(track, Self.canvas) }
        rig.second(0, of: [0])
        #expect(rig.publication.layers.count == 3)
        #expect(rig.pipeline.counters.otherTracks == 27)
        #expect(rig.stories.first?.hasSuffix("tracks beyond ten of a kind.") == true)
    }

    @Test func `further tracks of audio are passed over in words`() throws {
        let rig = try Rig()
        let opus = Array("Opus".utf8)
        let head: [UInt8] = Array("OpusHead".utf8) + [1, 2, 0x38, 1, 0x80, 0xBB, 0, 0, 0, 0, 0]
        rig.audio([0x90] + opus + head, at: 0)
        rig.audio([0x95, 0x00] + Array("mp4a".utf8) + [1, 0x11, 0x90], at: 0)
        rig.audio([0x91] + opus + [0xFC, 1], at: 0)
        rig.audio([0x95, 0x01] + Array("mp4a".utf8) + [1, 0x21], at: 0)
        rig.audio([0x95, 0x11] + opus + [1, 0, 0, 1, 9, 0, 0, 0, 2, 0xFC, 2], at: 20)
        #expect(rig.sink.packets(of: .audio).map(\.payload) == [[0xFC, 1], [0xFC, 2]])
        #expect(rig.publication.counters[.audio].frames.value == 2)
        #expect(rig.pipeline.counters.otherTracks == 3)
        rig.pipeline.end(.closed)
        #expect(rig.stories == ["Not forwarded: audio track 1 (AAC): one track of audio is taken."])
    }

    @Test func `without a track 0 the lowest number is the publish, and the others are its layers`() throws {
        let rig = try Rig(FakeInspector())
        for (track, size) in [(3, Self.half), (2, Self.canvas), (5, Self.upright)] as [(UInt8, PictureSize)] {
            rig.header(track, size)
        }
        for second in 0..<2 as Range<Int64> { rig.second(second, of: [2, 3, 5]) { _ in 500 } }
        #expect(rig.sink.packets.isEmpty && rig.stories.isEmpty, "Track 0 may come still")
        for second in 2..<4 as Range<Int64> { rig.second(second, of: [2, 3, 5]) { _ in 500 } }
        #expect(rig.publication.layers.map(\.width) == [1_280, 640] && rig.publication.layers.map(\.rid) == ["2", "3"])
        #expect((0..<2).map { rig.packets($0).count(where: \.marker) } == [20, 20])
        #expect(rig.stories.last == "Not forwarded: video track 5 (720x1280): its shape is not that of track 2.")
        #expect(rig.video([0x90] + Array("hvc1".utf8) + [1], at: 4_000) == nil, "Track 0 has come too late to decide")
        #expect(rig.video([0x96, 0x00] + Array("hvc1".utf8) + [2, 1], at: 4_000) != nil)
    }

    @Test func `without a track 0 the lowest number of those that are followed is the publish`() throws {
        let rig = try Rig()
        for track in (1...12 as ClosedRange<UInt8>).reversed() { rig.header(track, track == 4 ? Self.canvas : Self.upright) }
        for second in 0..<4 as Range<Int64> { rig.second(second, of: [1, 4]) }
        #expect(rig.publication.layers.map(\.rid) == ["4"])
        #expect(rig.packets(0).count(where: \.marker) == 20)
    }

    @Test func `without a track 0 the lowest number's codec decides`() throws {
        let rig = try Rig(FakeInspector())
        let hevc: [UInt8] = [0x96, 0x00] + Array("hvc1".utf8) + [1, 1]
        #expect(rig.video(hevc) == nil)
        rig.header(2, Self.canvas)
        #expect(rig.frame(2, at: 1_900) == nil)
        #expect(rig.frame(2, at: 2_000) != nil)
    }

    @Test(arguments: [0, 1_900, 2_100] as [Int64])
    func `audio without a track 0 is that of the lowest number, with the header that it began with`(_ zero: Int64) throws {
        let rig = try Rig()
        let opus = Array("Opus".utf8)
        let head: [UInt8] = Array("OpusHead".utf8) + [1, 2, 0x38, 1, 0x80, 0xBB, 0, 0, 0, 0, 0]
        for track in [4, 3] as [UInt8] { rig.audio([0x95, 0x00] + opus + [track] + head, at: 0) }
        for time in stride(from: Int64(0), to: 4_000, by: 100) {
            if time == zero { rig.audio([0x90] + opus + head, at: time) }
            for track in [4, 3] as [UInt8] { rig.audio([0x95, 0x01] + opus + [track, 0xFC, track], at: time) }
            if time >= zero { rig.audio([0x91] + opus + [0xFC, 0], at: time) }
        }
        let packets = rig.sink.packets(of: .audio).map { $0.payload.last }
        #expect(Set(packets) == [zero < 2_000 ? 0 : 3])
        #expect(packets.count == (4_000 - Int(min(zero, 2_000))) / 100)
    }

    @Test func `audio without a track 0 has the channels that it began with`() throws {
        let inspector = FakeInspector()
        let rig = try Rig(inspector)
        let opus = Array("Opus".utf8)
        for track in [3, 2] as [UInt8] {
            rig.audio([0x95, 0x00] + opus + [track], at: 0)
            rig.audio([0x95, 0x04] + opus + [track, 1, 2 * track, 0, 0, 0, 0x0F], at: 0)
        }
        rig.audio([0x95, 0x01] + opus + [2, 0xFC, 1], at: 2_000)
        #expect(inspector.opusChannelCounts == [2, 4])
    }

    @Test func `the contract looks at each layer, and a fault of one ends the publish`() throws {
        let inspector = FakeInspector()
        let rig = try Rig(inspector)
        rig.header(0, Self.canvas)
        rig.header(1, Self.half)
        rig.header(2, Self.upright)
        rig.second(0, of: [0, 1, 2])
        #expect(inspector.layers == [0, 1] && inspector.layerNames == [0: "hi", 1: "low"])
        inspector.refusesFrames = true
        #expect(rig.frame(2, at: 1_000) == nil, "Nobody gets it: nobody judges it")
        #expect(rig.frame(1, at: 1_000) != nil)
    }

    @Test func `broken messages of many tracks are counted`() throws {
        let rig = try Rig()
        rig.header(0, Self.canvas)
        rig.header(1, Self.half)
        let avc1 = Array("avc1".utf8)
        let unit = Self.unit(isKeyframe: true, byteCount: 20)
        rig.video([0x96, 0x13] + avc1 + [0, 0, 0, UInt8(unit.count)] + unit + [1, 0xFF, 0xFF, 0xFF, 9])
        rig.video([0x96, 0x00] + avc1 + [1, 7, 7])
        rig.video([0xA6, 0x01] + avc1)
        #expect(rig.packets(0).count(where: \.marker) == 1 && rig.packets(1).isEmpty)
        #expect(rig.pipeline.counters.malformed == 3)
    }

    @Test func `three tracks become packets without an allocation`() throws {
        let rig = try Rig()
        for (track, size) in [(0, Self.canvas), (1, Self.half), (2, Self.quarter)] as [(UInt8, PictureSize)] {
            rig.header(track, size)
        }
        let sink = AllocationTests.CountingSink()
        rig.publication.remove(rig.sink)
        rig.publication.add(sink)
        rig.pipeline.onProgress = nil
        let frames = (0..<3).map { track in
            Self.head(track, 1, isKeyframe: true) + [0, 0, 0] + Self.unit(isKeyframe: true, byteCount: 20_000)
        }
        func second(_ number: Int64) {
            for step in 0..<30 as Range<Int64> {
                for frame in frames { rig.video(frame, at: number * 1_000 + step * 33) }
            }
        }
        second(0)
        let before = sink.packetCount
        #expect(try AllocationCounter.count { second(1) } == 0)
        #expect(sink.packetCount - before > 3 * 30 * 16)
    }
}

@Suite("Takeover of a stream of several tracks")
struct MultitrackTakeoverTests {
    @Test func `the new encoder's layers are its own`() throws {
        var settings = RTMPSettings()
        settings.takeoverSilence = .milliseconds(300)
        let bench = try IngestBench(settings)
        func publish(_ address: String, widths: [Int]) -> FakeEncoder {
            let encoder = bench.connect(from: address)
            encoder.connectAndPublish()
            #expect(bench.run(until: { encoder.hasStarted }, within: .seconds(120)))
            for (track, width) in widths.enumerated() {
                let size = PictureSize(width: width, height: width * 9 / 16)
                encoder.message(9, MultitrackTests.header(UInt8(track), size))
            }
            return encoder
        }
        let first = publish("192.0.2.1:1", widths: [1_280, 640, 320])
        #expect(bench.host.publications[0].layers.map(\.width) == [1_280, 640, 320])
        let second = publish("192.0.2.2:1", widths: [960, 480])
        #expect(bench.run(until: { first.isClosing }, within: .seconds(120)))
        #expect(bench.host.ends == [.takenOver])
        #expect(bench.host.publications[1].layers.map(\.width) == [960, 480])
        second.command("FCUnpublish", 9, .null, ["KEY"])
        #expect(bench.leases.liveCount == 0)
    }
}
