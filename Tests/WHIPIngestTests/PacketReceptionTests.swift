import SDP
import StageHub
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

@Suite("Packet reception")
struct PacketReceptionTests {
    /// The source that the offer names.
    private static let first: UInt32 = 4_005_686_104
    /// That of an encoder that began anew.
    private static let second: UInt32 = 77

    private static func packet(_ payloadType: UInt8, of source: UInt32, _ number: UInt16, _ payload: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(contentsOf: [0x80, payloadType])
        writer.write(number)
        writer.write(UInt32(number) * 3_000)
        writer.write(source)
        return writer.bytes + payload
    }

    private struct Case {
        var source: UInt32
        var number: UInt16
        var payload: [UInt8]
        /// In milliseconds.
        var time: Int64 = 0
        /// Nil where nothing is received.
        var fate: ReceivedPacket.Fate?
    }

    private static let cases = [
        Case(source: first, number: 7, payload: [0x65, 1], fate: .forwarded),
        Case(source: first, number: 7, payload: [0x65, 1], fate: nil),
        Case(source: first, number: 8, payload: [], fate: .dropped),
        // An aggregate whose first length is beyond its end.
        Case(source: first, number: 9, payload: [0x78, 0xFF, 0xFF, 0x41], fate: .counted),
        Case(source: second, number: 500, payload: [0x65, 1], fate: .forwarded),
        Case(source: first, number: 10, payload: [0x41, 1], fate: .counted),
        Case(source: second, number: 502, payload: [0x41, 1], fate: .forwarded),
        Case(source: second, number: 501, payload: [0x41, 1], time: 600, fate: .dropped),
    ]

    @Test func `says of each packet what becomes of it`() throws {
        let offer = try AcceptedOffer(negotiating: SessionDescription(parsing: OfferFixture.named("obs-32.2.2-ldc0.21.0").body))
        var reception = PacketReception(offer: offer)
        for item in Self.cases {
            let now = MonotonicTime(nanoseconds: 9_000_000_000 + item.time * 1_000_000)
            let packet = Self.packet(96, of: item.source, item.number, item.payload)
            let received = packet.withUnsafeBytes { reception.receive($0, at: now) }
            #expect(received?.fate == item.fate, "packet \(item.number) of \(item.source)")
            #expect(received?.replacesFeed ?? false == (item.number == 500))
        }
    }

    /// Its numbers are the source's: 65,534 in the retransmission, and 0 two packets later.
    @Test func `a retransmission before the first packet of its source holds back none behind the wrap`() throws {
        let offer = try AcceptedOffer(negotiating: SessionDescription(parsing: OfferFixture.named("ffmpeg-9.0.2").body))
        var reception = PacketReception(offer: offer)
        let packets = [
            Self.packet(105, of: 1_769_242_989, 1, [0xFF, 0xFE, 0x65, 1]), Self.packet(106, of: 1_769_242_988, 0, [0x41, 1]),
            Self.packet(106, of: 1_769_242_988, 1, [0x41, 1]),
        ]
        let numbers = packets.map { packet in
            packet.withUnsafeBytes { reception.receive($0, at: .zero)?.packet.sequenceNumber }
        }
        #expect(numbers == [65_534, 65_536, 65_537])
    }

    /// As where a browser has changed the size of its pictures, and the keyframe before that was lost.
    @Test func `parameter sets that come behind those of a later picture hold no more`() throws {
        let offer = try AcceptedOffer(negotiating: SessionDescription(parsing: OfferFixture.named("obs-32.2.2-ldc0.21.0").body))
        var reception = PacketReception(offer: offer)
        func receive(_ number: UInt16, _ payload: [UInt8], of source: UInt32 = Self.first) -> PicturePart? {
            Self.packet(96, of: source, number, payload).withUnsafeBytes {
                reception.receive($0, at: MonotonicTime(nanoseconds: 9_000_000_000))?.picture
            }
        }
        var small = SPSBuilder()
        (small.width, small.height) = (320, 180)
        let (sequenceSet, pictureSet) = (SPSBuilder().bytes, PPSBuilder().bytes)
        for (number, payload) in [(7, [0x41, 1]), (9, sequenceSet), (10, pictureSet)] as [(UInt16, [UInt8])] {
            #expect(receive(number, payload) != nil)
        }
        let late = try #require(receive(8, small.bytes))
        #expect(late.size == nil && !late.hasNewFormat)
        #expect(reception.layers[0].format == .h264(sps: sequenceSet, pps: pictureSet))
        // Another source has a clock of its own.
        for number in [UInt16(1), 3] { #expect(receive(number, [0x41, 1], of: Self.second) != nil) }
        #expect(receive(2, small.bytes, of: Self.second)?.hasNewFormat == true)
    }

    /// Two layers, as a browser numbers and times them.
    @Test func `a publish of layers starts with a second of one of them, by that one's clock`() throws {
        let fixture = OfferFixture.named("chromium-156.0.8078.79-simulcast")
        var reception = PacketReception(offer: try AcceptedOffer(negotiating: SessionDescription(parsing: fixture.body)))
        func send(frame: UInt32, _ payloads: [[UInt8]] = [[0x41, 1], [0x41, 1], [0x41, 1]]) {
            let now = MonotonicTime(nanoseconds: 9_000_000_000 + Int64(frame) * 33_333_333)
            for (source, rid, start) in [(UInt32(3), UInt8(ascii: "l"), UInt32(0)), (1, UInt8(ascii: "h"), 50_000_000)] {
                for (index, payload) in payloads.enumerated() {
                    var writer = ByteWriter()
                    writer.write(contentsOf: [0x90, 108])
                    writer.write(UInt16(frame) * 3 + UInt16(index))
                    writer.write(start + frame * 3_000)
                    writer.write(source)
                    writer.write(contentsOf: [0xBE, 0xDE, 0, 1, 0xA0, rid, 0, 0])
                    (writer.bytes + payload).withUnsafeBytes { packet in
                        if let received = reception.receive(packet, at: now) { reception.forwarded(received) }
                    }
                }
            }
        }
        send(frame: 0, [TestClient.sequenceSet, TestClient.pictureSet, [0x65, 1]])
        for frame in UInt32(1)..<30 { send(frame: frame) }
        #expect(!reception.takeNews().hasStarted)
        send(frame: 30)
        #expect(reception.takeNews().hasStarted)
    }
}
