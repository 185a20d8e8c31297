import RTCP
import TestSupport
import Testing
import Wire

@Suite("RTCP packets")
struct RTCPPacketTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var bytes: [UInt8]
        var packet: RTCPPacket
        var testDescription: String { name }
    }

    static let block = ReportBlock(
        ssrc: 0x0102_0304, fractionLost: 0x40, cumulativeLost: -2, extendedHighestSequenceNumber: 0x0001_FFFF, jitter: 7,
        lastSenderReport: 0x1122_3344, delaySinceLastSenderReport: 0x0001_0000)
    static let blockBytes: [UInt8] = [
        1, 2, 3, 4,  // SSRC
        0x40, 0xFF, 0xFF, 0xFE,  // a quarter lost; −2 lost in all
        0, 1, 0xFF, 0xFF,  // highest sequence number with one round
        0, 0, 0, 7,  // jitter
        0x11, 0x22, 0x33, 0x44,  // LSR
        0, 1, 0, 0,  // DLSR: one second
    ]

    static let cases: [Case] = [
        Case(
            name: "SR",
            bytes: [0x81, 200, 0, 12, 0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3] + blockBytes,
            packet: .senderReport(
                SenderReport(
                    ssrc: 9, ntp: 0x0102_0304_0506_0708, rtpTimestamp: 1, packetCount: 2, octetCount: 3, reports: [block]))),
        Case(
            name: "RR", bytes: [0x81, 201, 0, 7, 0, 0, 0, 9] + blockBytes,
            packet: .receiverReport(ReceiverReport(ssrc: 9, reports: [block]))),
        Case(
            name: "empty RR", bytes: [0x80, 201, 0, 1, 0, 0, 0, 9],
            packet: .receiverReport(ReceiverReport(ssrc: 9, reports: []))),
        Case(
            name: "SDES", bytes: [0x82, 202, 0, 5, 0, 0, 0, 9, 1, 2, 0x61, 0x62, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0],
            packet: .sourceDescription(
                SourceDescription(chunks: [.init(ssrc: 9, cname: "ab"), .init(ssrc: 8, cname: nil)]))),
        Case(name: "BYE", bytes: [0x82, 203, 0, 2, 0, 0, 0, 9, 0, 0, 0, 8], packet: .goodbye(Goodbye(ssrcs: [9, 8]))),
        Case(
            name: "NACK", bytes: [0x81, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFF, 0x80, 1, 0, 0x20, 0, 0],
            packet: .nack(GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [65535, 0, 15, 32]))),
        Case(
            name: "PAUSE and RESUME",
            bytes: [0x89, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0x00, 0, 0, 7, 0, 0, 0, 3, 0x10, 0, 0xFF, 0xFF],
            packet: .pause(
                StreamPauseFeedback(
                    senderSSRC: 1,
                    entries: [.init(ssrc: 2, kind: .pause, pauseID: 7), .init(ssrc: 3, kind: .resume, pauseID: 65_535)]))),
        Case(
            name: "PAUSED and REFUSED",
            bytes: [0x89, 205, 0, 7, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0x20, 1, 0, 7, 0, 1, 0, 9, 0, 0, 0, 3, 0x30, 0, 0, 0],
            packet: .pause(
                StreamPauseFeedback(
                    senderSSRC: 2,
                    entries: [
                        .init(ssrc: 2, kind: .paused(highestSequenceNumber: 0x1_0009), pauseID: 7),
                        .init(ssrc: 3, kind: .refused, pauseID: 0),
                    ]))),
        Case(
            name: "PLI", bytes: [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2],
            packet: .pictureLoss(PictureLossIndication(senderSSRC: 1, mediaSSRC: 2))),
        Case(
            name: "FIR", bytes: [0x84, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 5, 0, 0, 0],
            packet: .fullIntraRequest(FullIntraRequest(senderSSRC: 1, entries: [.init(ssrc: 2, sequenceNumber: 5)]))),
        Case(
            name: "REMB",
            bytes: [0x8F, 206, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 1, 0x13, 0xD0, 0x90, 0, 0, 0, 2],
            packet: .bitrateLimit(
                ReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitsPerSecond: 0x3D090 << 4, ssrcs: [2]))),
        Case(
            name: "XR",
            bytes: [0x80, 207, 0, 8, 0, 0, 0, 1, 4, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 5, 0, 0, 3]
                + [0, 0, 0, 9, 3, 4, 5, 6, 0, 1, 0, 0],
            packet: .extendedReport(
                ExtendedReport(
                    ssrc: 1, receiverReferenceTime: 0x0102_0304_0506_0708,
                    delays: [.init(ssrc: 9, lastReceiverReference: 0x0304_0506, delaySinceLast: 0x1_0000)]))),
        Case(
            name: "transport-wide feedback",
            bytes: [0x8F, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFE]
                + [0, 4, 0xFF, 0xFF, 0xFE, 3]  // four statuses, reference time −2, third feedback packet
                + [0xD2, 0x40, 4, 0xFF, 0xF0, 0xFF, 0, 0],  // vector: small, none, large, small; 4, −16, 255, then padding
            packet: .transportWide(
                TransportWideFeedback(
                    senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: 0xFFFE, referenceTime: -2, feedbackCount: 3,
                    arrivalDeltas: [4, nil, -16, 255]))),
    ]

    @Test(arguments: cases)
    func `reads`(_ example: Case) throws {
        #expect(try RTCPCompound.parse(example.bytes.span.bytes) == [example.packet])
    }

    @Test(arguments: cases)
    func `writes`(_ example: Case) {
        var writer = ByteWriter()
        #expect(example.packet.write(into: &writer))
        #expect(writer.bytes == example.bytes)
    }

    @Test(arguments: cases)
    func `every prefix is truncated`(_ example: Case) {
        for length in 0..<example.bytes.count {
            let prefix = Array(example.bytes.prefix(length))
            #expect(throws: RTCPError.truncated) { try RTCPCompound.parse(prefix.span.bytes) }
        }
    }

    @Test(arguments: cases.filter { $0.name != "empty RR" })
    func `a length too short for its contents is refused`(_ example: Case) {
        var bytes = Array(example.bytes.dropLast(4))
        bytes[3] -= 1
        guard example.name != "NACK" else { return }  // one entry fewer is a NACK as well
        #expect(throws: RTCPError.invalidLength(packetType: bytes[1])) { try RTCPCompound.parse(bytes.span.bytes) }
    }

    @Test func `a compound is all of its packets, or nothing`() throws {
        let whole = Self.cases.flatMap(\.bytes)
        #expect(try RTCPCompound.parse(whole.span.bytes) == Self.cases.map(\.packet))
        let broken = whole + [0x80, 201, 0, 9]
        #expect(throws: RTCPError.truncated) { try RTCPCompound.parse(broken.span.bytes) }
    }

    @Test func `padding is taken off the last packet only`() throws {
        let padded: [UInt8] = [0xA0, 201, 0, 2, 0, 0, 0, 9, 0, 0, 0, 4]
        #expect(try RTCPCompound.parse(padded.span.bytes) == [.receiverReport(ReceiverReport(ssrc: 9, reports: []))])
        let inFront = padded + padded
        #expect(throws: RTCPError.invalidPadding) { try RTCPCompound.parse(inFront.span.bytes) }
        for count in [0, 3, 12] as [UInt8] {
            let wrong = Array(padded.dropLast()) + [count]
            #expect(throws: RTCPError.invalidPadding) { try RTCPCompound.parse(wrong.span.bytes) }
        }
        let bare: [UInt8] = [0xA0, 201, 0, 0]
        #expect(throws: RTCPError.invalidPadding) { try RTCPCompound.parse(bare.span.bytes) }
    }

    @Test func `a pause of a type that nobody knows is left out, whatever stands in it`() throws {
        let bytes: [UInt8] =
            [0x89, 205, 0, 7, 0, 0, 0, 1, 9, 9, 9, 9]
            + [0, 0, 0, 2, 0xF0, 1, 0, 7, 1, 2, 3, 4, 0, 0, 0, 3, 0x1F, 0, 0, 1]
        let resume = StreamPauseFeedback.Entry(ssrc: 3, kind: .resume, pauseID: 1)
        #expect(
            try RTCPCompound.parse(bytes.span.bytes) == [.pause(StreamPauseFeedback(senderSSRC: 1, entries: [resume]))])
        var tooLong = bytes
        tooLong[17] = 4  // more words than there are
        #expect(throws: RTCPError.invalidLength(packetType: 205)) { try RTCPCompound.parse(tooLong.span.bytes) }
    }

    @Test func `steps over types and blocks it does not read`() throws {
        let bytes: [UInt8] =
            [0x80, 204, 0, 1, 0, 0, 0, 1]  // APP
            + [0x8B, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]  // congestion control feedback (RFC 8888)
            + [0x8F, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0x41, 0x42, 0x43, 0x44]  // another application layer feedback
            + [0x80, 207, 0, 3, 0, 0, 0, 1, 1, 0, 0, 1, 9, 9, 9, 9]  // XR with a loss block
        #expect(
            try RTCPCompound.parse(bytes.span.bytes) == [
                .other(packetType: 204), .other(packetType: 205), .other(packetType: 206),
                .extendedReport(ExtendedReport(ssrc: 1)),
            ])
    }

    @Test func `too many packets are refused`() {
        let bytes = Array(repeatElement([0x80, 203, 0, 0] as [UInt8], count: 33).joined())
        #expect(throws: RTCPError.tooManyPackets) { try RTCPCompound.parse(bytes.span.bytes) }
    }

    @Test func `an REMB beyond 64 bits is no limit`() throws {
        let bytes: [UInt8] = [0x8F, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 0, 0xFF, 0xFF, 0xFF]
        guard case .bitrateLimit(let limit) = try RTCPCompound.parse(bytes.span.bytes)[0] else {
            Issue.record("not read as REMB")
            return
        }
        #expect(limit.bitsPerSecond == .max)
    }

    @Test func `a NACK lists what it misses`() {
        let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [65535, 0, 15, 32])
        var numbers: [UInt16] = []
        nack.forEachSequenceNumber { numbers.append($0) }
        #expect(numbers == [65535, 0, 15, 32])
    }

    @Test func `any bytes parse or throw`() {
        var generator = SplitMix64(seed: 4)
        let whole = Self.cases.flatMap(\.bytes)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<4 { bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator) }
            _ = try? RTCPCompound.parse(bytes.span.bytes)
        }
    }
}
