import Admission
import EventLoop
import MediaContract
import Refusals
import StageHub
import TestSupport
import Testing
import Transcoding
import Wire

@testable import RTMPIngest

/// A stream at 30 fps with Opus, as long as a shift of it lasts: clocks keep together, nothing is lost, nothing grows.
@Suite("RTMP's way into the hub, a day long", .serialized)
struct DayLongTests {
    /// Follows numbers and times and keeps no packet.
    private final class Auditor: MediaSink {
        private(set) var packetCount = 0
        private(set) var gaps = 0
        private(set) var lastTimestamp: [TrackID: Int64] = [:]
        private var lastNumber: [TrackID: Int64] = [:]

        func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
            for packet in packets {
                if let last = lastNumber[run.track], packet.sequenceNumber != last + 1 { gaps += 1 }
                if let last = lastTimestamp[run.track], packet.timestamp < last { gaps += 1 }
                (lastNumber[run.track], lastTimestamp[run.track]) = (packet.sequenceNumber, packet.timestamp)
                packetCount += 1
            }
        }

        func formatChanged(_ track: TrackID, to format: TrackFormat) {}
        func muteChanged(_ track: TrackID, isMuted: Bool) {}
        func restarted() {}
        func ended(_ reason: SessionEnd) {}
    }

    private struct Rig {
        /// Bytes of a picture: 1 Mbit/s at 30 fps.
        private static let pictureBytes = 4_000
        private static let opus: [UInt8] = [0x91] + Array("Opus".utf8) + [0xFC] + [UInt8](repeating: 0x55, count: 159)
        private static let opusHead: [UInt8] =
            [0x90] + Array("Opus".utf8) + Array("OpusHead".utf8) + [1, 2, 0x38, 1, 0x80, 0xBB, 0, 0, 0, 0, 0]
        private static let keyframe = tag(SliceBuilder(isIDR: true, byteCount: pictureBytes).bytes, isKeyframe: true)
        private static let frame = tag(SliceBuilder(byteCount: pictureBytes).bytes, isKeyframe: false)

        let auditor = Auditor()
        let publication: Publication
        let pipeline: RTMPPublishPipeline
        private let bench: IngestBench

        init() throws {
            bench = try IngestBench()
            let lease = PublishLease(participantID: "p1", stageID: "s1", stageSessionID: "st-1", generation: 1)
            publication = Publication(grant: IngestBench.grant, lease: lease, ingestProtocol: .rtmp, timeline: Timeline())
            publication.add(auditor)
            let loop = bench.loop
            let publisher = ContractPublisher(credential: "h", source: .v4(0xC000_0201), product: "FMLE/3.0")
            pipeline = RTMPPublishPipeline(
                publication: publication, transcoder: try AudioTranscoder(loop: loop, pool: bench.pool),
                inspector: ContractSession(context: ContractContext(), ingest: .rtmp, publisher: publisher), now: { loop.now })
            #expect(video(PipelineTests.sequenceHeader, at: 0) == nil)
            #expect(audio(Self.opusHead, at: 0) == nil)
        }

        /// The moment at which the encoder's clock shows `stamp`: it goes 100 ppm fast, and TCP delays by up to 20 ms.
        func arrival(_ stamp: Int64) -> MonotonicTime {
            MonotonicTime(nanoseconds: 5_000_000_000 + stamp * (1_000_000 - 100) + stamp * 7_919 % 20 * 1_000_000)
        }

        /// One second of media from `second` on; what ended the publish.
        func play(second: Int) -> Refusal? {
            let start = Int64(second) * 1_000
            for step in 0..<50 {
                if let refusal = audio(Self.opus, at: start + Int64(step) * 20) { return refusal }
                guard step % 5 < 3 else { continue }
                let picture = step / 5 * 3 + step % 5
                let isKeyframe = second % 2 == 0 && picture == 0
                if let refusal = video(isKeyframe ? Self.keyframe : Self.frame, at: start + Int64(picture) * 1_000 / 30) {
                    return refusal
                }
            }
            return pipeline.timePassed(arrival(start + 1_000))
        }

        private func video(_ message: [UInt8], at stamp: Int64) -> Refusal? {
            message.withUnsafeBytes { pipeline.receive($0, of: .video, timestamp: stamp, arrival: arrival(stamp)) }
        }

        private func audio(_ message: [UInt8], at stamp: Int64) -> Refusal? {
            message.withUnsafeBytes { pipeline.receive($0, of: .audio, timestamp: stamp, arrival: arrival(stamp)) }
        }

        private static func tag(_ unit: [UInt8], isKeyframe: Bool) -> [UInt8] {
            var writer = ByteWriter()
            writer.write(contentsOf: [isKeyframe ? 0x17 : 0x27, 1, 0, 0, 0])
            writer.write(UInt32(unit.count))
            writer.write(contentsOf: unit)
            return writer.bytes
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `clocks keep together, no packet is lost, and no byte is kept`() throws {
        let rig = try Rig()
        // The default rules end a publish after a day.
        let seconds = min(SimulatedDay.seconds, 86_398)
        var resident = 0
        for second in 0..<seconds {
            let refusal = rig.play(second: second)
            try #require(refusal == nil, "\(second): \(String(describing: refusal))")
            if second == 30 { resident = SimulatedDay.residentBytes }
            guard second % 60 == 59 else { continue }
            // What sender reports say of the present moment is what the last packets said, for both tracks.
            let now = rig.arrival(Int64(second + 1) * 1_000)
            for (track, rate) in [(TrackID.video, 90.0), (.audio, 48.0)] {
                let shown = try #require(rig.publication.timeline.timestamp(of: track, at: now))
                let sent = try #require(rig.auditor.lastTimestamp[track])
                #expect((0.0...60).contains(Double(shown - sent) / rate), "\(track) after \(second) s, milliseconds")
            }
        }
        #expect(rig.auditor.gaps == 0)
        #expect(rig.auditor.packetCount == seconds * (30 * 4 + 50) + (seconds + 1) / 2)
        let growth = SimulatedDay.residentBytes - resident
        print("\(seconds) simulated seconds: \(rig.auditor.packetCount) packets, memory grew by \(growth) bytes")
        // Memory is the whole process': in `make soak` nothing else runs in it.
        if SimulatedDay.isWhole { #expect(growth < 1 << 20) }
    }

    @Test(.enabled(if: SimulatedDay.seconds > 86_400, "twenty-four hours and more: make soak"), .timeLimit(.minutes(10)))
    func `a day is the end`() throws {
        let rig = try Rig()
        let second = try #require((0..<86_500).first { rig.play(second: $0) != nil })
        #expect((86_390...86_410).contains(second))
    }
}
