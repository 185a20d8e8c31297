import RTCP
import RTP
import StageHub
import TestSupport
import Testing
import Wire

@testable import EmbeddedRouter

@Suite("Subscriber's track")
final class SubscriberTrackTests {
    let clock = FakeClock()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 16)

    deinit { buffer.deallocate() }

    static func track(_ kind: MediaKind) throws -> SubscriberTrack {
        let offer = try SubscriberOffer(negotiating: try SubscriberOfferTests.turned("aiortc-1.16.0"))
        let section = try #require(offer.section(kind))
        return SubscriberTrack(section, SubscriberOfferTests.sources, random: (0x0001_2345, 1_000))
    }

    func block(_ kind: MediaKind, number: Int64, timestamp: Int64, clock reading: MediaBlock.ClockReading? = nil) -> MediaBlock {
        let block = MediaBlock()
        let payload: [UInt8] = [2, 3]
        payload.withUnsafeBytes { bytes in
            let packet = MediaPacket(
                sequenceNumber: number, timestamp: timestamp, marker: true, head: 1, headCount: 1, payload: bytes)
            withUnsafePointer(to: packet) { pointer in
                block.fill(
                    UnsafeBufferPointer(start: pointer, count: 1)[...],
                    of: MediaRun(track: TrackID(kind), isKeyframe: true, arrival: clock.now), epoch: 0, clock: reading)
            }
        }
        return block
    }

    func written(_ count: Int?) throws -> (header: RTPHeader, payload: [UInt8]) {
        let bytes = Array(buffer[..<(try #require(count))])
        let header = try RTPHeader(parsing: bytes.span.bytes)
        return (header, Array(bytes[header.payload(inPacketOf: bytes.count)]))
    }

    @Test func `packets carry the offer's payload type, our source, the MID and the payload`() throws {
        var track = try Self.track(.video)
        let block = block(.video, number: 7, timestamp: 90)
        track.begin(block, epoch: 1)
        let (header, payload) = try written(track.write(block.packets[0], of: block, number: 9, into: buffer))
        #expect(header.ssrc == 11 && header.marker && payload == [1, 2, 3])
        #expect(header.extensions?.profile == HeaderExtensions.oneByteProfile)
    }

    @Test func `a retransmission has another source, another number and the first number before the payload`() throws {
        var track = try Self.track(.video)
        let block = block(.video, number: 7, timestamp: 90)
        track.begin(block, epoch: 1)
        let (first, _) = try written(track.write(block.packets[0], of: block, number: 9, into: buffer))
        #expect(track.publisherNumber(of: first.sequenceNumber) == 7)
        #expect(track.publisherNumber(of: first.sequenceNumber &+ 1) == nil)
        var numbers: Set<UInt16> = []
        for _ in 0..<3 {
            let (again, payload) = try written(
                track.writeRetransmission(block.packets[0], sentAs: first.sequenceNumber, of: block, number: 9, into: buffer))
            #expect(again.ssrc == 12 && again.payloadType != first.payloadType && again.timestamp == first.timestamp)
            #expect(payload == [UInt8(first.sequenceNumber >> 8), UInt8(first.sequenceNumber & 0xFF), 1, 2, 3])
            numbers.insert(again.sequenceNumber)
        }
        #expect(numbers.count == 3, "no number is used twice under one key")
    }

    /// A viewer that gets none before its counter has wrapped takes what comes then for forged.
    @Test func `media and retransmissions begin far from where SRTP counts a rollover`() throws {
        let offer = try SubscriberOffer(negotiating: try SubscriberOfferTests.turned("aiortc-1.16.0"))
        let section = try #require(offer.section(.video))
        var track = SubscriberTrack(section, SubscriberOfferTests.sources, random: (.max, .max))
        let block = block(.video, number: 7, timestamp: 90)
        track.begin(block, epoch: 1)
        let (first, _) = try written(track.write(block.packets[0], of: block, number: 9, into: buffer))
        let (again, _) = try written(
            track.writeRetransmission(block.packets[0], sentAs: first.sequenceNumber, of: block, number: 9, into: buffer))
        #expect(first.sequenceNumber < 0x8000 && again.sequenceNumber < 0x8000)
    }

    @Test func `a new epoch goes on behind the highest sent, and old numbers name nothing any more`() throws {
        var track = try Self.track(.video)
        let before = block(.video, number: 700, timestamp: 9_000)
        track.begin(before, epoch: 1)
        let (first, _) = try written(track.write(before.packets[0], of: before, number: 9, into: buffer))
        clock.advance(by: .seconds(1))
        let after = block(.video, number: 3, timestamp: 50)
        track.begin(after, epoch: 2)
        let (second, _) = try written(track.write(after.packets[0], of: after, number: 9, into: buffer))
        #expect(second.sequenceNumber == first.sequenceNumber &+ 1)
        #expect(second.timestamp == first.timestamp &+ 90_000)
        #expect(track.publisherNumber(of: first.sequenceNumber) == nil)
        #expect(track.publisherNumber(of: second.sequenceNumber) == 3)
    }

    /// Both tracks' reports name the same moment: what was at the same time at the publisher has the same wall clock time.
    @Test func `reports of both tracks come from one timeline`() throws {
        let start = clock.now
        let wall = WallTime(secondsSince1970: 1_000_000)
        var offsets: [Double] = []
        for (kind, rate) in [(MediaKind.video, 90_000.0), (.audio, 48_000.0)] {
            var track = try Self.track(kind)
            let media = Int64(rate * 5)
            let block = block(kind, number: 1, timestamp: media, clock: .init(time: start, timestamp: media))
            track.begin(block, epoch: 1)
            let (sent, _) = try written(track.write(block.packets[0], of: block, number: 9, into: buffer))
            var writer = ByteWriter()
            let isWritten = track.writeReport(at: start + .milliseconds(250), wall: wall, into: &writer)
            #expect(isWritten)
            guard case .senderReport(let report) = try RTCPCompound.parse(writer.bytes.span.bytes)[0] else {
                return #expect(Bool(false), "no report")
            }
            #expect(report.ntp == wall.ntp && report.packetCount == 1 && report.octetCount == 3)
            offsets.append(Double(report.rtpTimestamp &- sent.timestamp) / rate)
        }
        #expect(offsets.allSatisfy { abs($0 - 0.25) < 0.000_1 })
    }

    @Test func `packets, retransmissions and padding carry the transport-wide number where the offer has it`() throws {
        let offer = try SubscriberOffer(negotiating: try SubscriberOfferTests.turned("chromium-156.0.8078.79"))
        let section = try #require(offer.section(.video))
        let id = try #require(section.transportWideExtension)
        var track = SubscriberTrack(section, SubscriberOfferTests.sources, random: (1, 2))
        let block = block(.video, number: 7, timestamp: 90)
        track.begin(block, epoch: 1)
        func number(_ count: Int?) throws -> [UInt8] {
            let bytes = Array(buffer[..<(try #require(count))])
            let header = try RTPHeader(parsing: bytes.span.bytes)
            let range = header.extensions?.range(of: id, in: bytes.span.bytes)
            return Array(bytes[try #require(range)])
        }
        #expect(track.isNumberedTransportWide)
        let first = track.write(block.packets[0], of: block, number: 0x1234, into: buffer)
        #expect(try number(first) == [0x12, 0x34])
        let again = track.writeRetransmission(block.packets[0], sentAs: 0x1001, of: block, number: 0x1235, into: buffer)
        #expect(try number(again) == [0x12, 0x35])
        let count = track.writePadding(200, number: 0x1236, into: buffer)
        #expect(try number(count) == [0x12, 0x36])
        let (header, payload) = try written(count)
        #expect(buffer[0] & 0x20 != 0 && buffer[(count ?? 1) - 1] == 200 && header.ssrc == 12, "padding alone, of the RTX source")
        #expect(payload.isEmpty || payload.count == 200)
    }

    @Test func `without the offer's transport-wide numbers there are none`() throws {
        let track = try Self.track(.video)
        #expect(!track.isNumberedTransportWide)
    }

    @Test func `a packet that fits into no datagram is left out`() throws {
        var track = try Self.track(.audio)
        let block = block(.audio, number: 1, timestamp: 0)
        track.begin(block, epoch: 1)
        let short = UnsafeMutableRawBufferPointer(rebasing: buffer[..<30])
        let count = track.write(block.packets[0], of: block, number: 9, into: short)
        #expect(count == nil)
    }
}
