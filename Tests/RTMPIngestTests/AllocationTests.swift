import AMF0
import Admission
import EventLoop
import RTMP
import Refusals
import StageHub
import TestSupport
import Testing
import Transcoding
import Wire

@testable import RTMPIngest

/// The media path allocates nothing once it has warmed up: a malloc costs as much as parsing a packet, and locks.
@Suite("RTMP's way into the hub, allocations", .serialized)
struct AllocationTests {
    /// Takes packets and keeps nothing.
    final class CountingSink: MediaSink {
        private(set) var packetCount = 0

        func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) { packetCount += packets.count }
        func formatChanged(_ track: TrackID, to format: TrackFormat) {}
        func muteChanged(_ track: TrackID, isMuted: Bool) {}
        func restarted() {}
        func ended(_ reason: SessionEnd) {}
    }

    /// One coded picture of a single slice in an FLV tag body.
    private static func frame(byteCount: Int, isKeyframe: Bool) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(contentsOf: [isKeyframe ? 0x17 : 0x27, 1, 0, 0, 0])
        writer.write(UInt32(byteCount))
        writer.write(contentsOf: [isKeyframe ? 0x65 : 0x41, isKeyframe ? 0x88 : 0x9A])
        return writer.bytes + [UInt8](repeating: 0x5A, count: byteCount - 2)
    }

    /// Whole, and with a further slice in a message of its own.
    @Test(arguments: [false, true])
    func `frames become packets without an allocation`(_ haveFurther: Bool) throws {
        let bench = try IngestBench()
        let lease = PublishLease(participantID: "p1", stageID: "s1", stageSessionID: "st-1", generation: 1)
        let publication = Publication(grant: IngestBench.grant, lease: lease, ingestProtocol: .rtmp, timeline: Timeline())
        let sink = CountingSink()
        publication.add(sink)
        let loop = bench.loop
        let pipeline = RTMPPublishPipeline(
            publication: publication, transcoder: try AudioTranscoder(loop: loop, pool: bench.pool), now: { loop.now })
        let frames =
            [Self.frame(byteCount: 60_000, isKeyframe: true)]
            + (0..<29).map { _ in Self.frame(byteCount: 10_000, isKeyframe: false) }
        let further: [UInt8] = [0x27, 1, 0, 0, 0, 0, 0, 0, 2, 0x41, 0x40]
        func second(_ number: Int64) {
            for (index, frame) in frames.enumerated() {
                let stamp = number * 1_000 + Int64(index) * 33
                let arrival = MonotonicTime(nanoseconds: (5_000 + stamp) * 1_000_000)
                frame.withUnsafeBytes { _ = pipeline.receive($0, of: .video, timestamp: stamp, arrival: arrival) }
                guard haveFurther else { continue }
                further.withUnsafeBytes { _ = pipeline.receive($0, of: .video, timestamp: stamp, arrival: arrival) }
            }
        }
        PipelineTests.sequenceHeader.withUnsafeBytes {
            _ = pipeline.receive($0, of: .video, timestamp: 0, arrival: MonotonicTime(nanoseconds: 5_000_000_000))
        }
        second(0)
        let before = sink.packetCount
        let count = try AllocationCounter.count { second(1) }
        #expect(sink.packetCount - before > 29 * 9 + 51)
        #expect(count == 0)
    }

    @Test
    func `messages come out of the chunk stream without an allocation, whole or in pieces`() throws {
        let writer = ChunkWriter()
        var second: [UInt8] = []
        for index in 0..<30 {
            let payload = Self.frame(byteCount: 10_000, isKeyframe: index == 0)
            writer.write(
                type: 9, timestamp: UInt32(index * 33), streamID: 1, chunkStreamID: 6, payload: payload, into: &second)
        }
        var reader = ChunkReader(limits: .publishing)
        func read(inPiecesOf size: Int) throws -> Int {
            var messages = 0
            var position = 0
            var end = 0
            while end < second.count {
                end = min(second.count, end + size)
                try second.withUnsafeBytes { bytes in
                    let input = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
                    var offset = 0
                    while try reader.next(in: input, at: &offset) != nil { messages += 1 }
                    position += offset
                }
            }
            return messages
        }
        #expect(try read(inPiecesOf: 65_536) == 30)
        #expect(try read(inPiecesOf: 1_448) == 30)
        for size in [65_536, 1_448] {
            var messages = 0
            let count = try AllocationCounter.count { messages = try read(inPiecesOf: size) }
            #expect(messages == 30)
            #expect(count == 0, "in pieces of \(size)")
        }
    }

    /// A session that was granted its publish.
    @Test
    func `a live session tells of its messages without an allocation`() throws {
        var session = RTMPServerSession(
            crypto: HandshakeCrypto(
                hmacSHA256: { _, _ in [UInt8](repeating: 0, count: 32) },
                randomBytes: [UInt8](repeating: 1, count: HandshakeCrypto.randomByteCount)))
        let writer = ChunkWriter()
        var opening = [3] + [UInt8](repeating: 0, count: 3_072)
        let commands: [[AMF0Value]] = [["connect", 1.0, .object(["app": "app"])], ["publish", 2.0, .null, "KEY"]]
        for command in commands {
            writer.write(type: 20, streamID: 1, chunkStreamID: 3, payload: command.amf0Bytes, into: &opening)
        }
        var second: [UInt8] = []
        for index in 0..<30 {
            let payload = Self.frame(byteCount: 10_000, isKeyframe: index == 0)
            writer.write(
                type: 9, timestamp: UInt32(index * 33), streamID: 1, chunkStreamID: 6, payload: payload, into: &second)
        }
        func read(_ bytes: [UInt8]) throws -> Int {
            var (messages, offset) = (0, 0)
            try bytes.withUnsafeBytes { input in
                while let event = try session.nextEvent(in: input, at: &offset) {
                    switch event {
                    case .connect: session.acceptConnect()
                    case .publish: session.acceptPublish()
                    case .video: messages += 1
                    case .audio, .data, .unpublished: break
                    }
                }
            }
            return messages
        }
        #expect(try read(opening) == 0)
        #expect(try read(second) == 30)
        var messages = 0
        let count = try AllocationCounter.count { messages = try read(second) }
        #expect(messages == 30)
        #expect(count == 0)
    }
}
