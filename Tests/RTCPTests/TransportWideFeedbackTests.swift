import RTCP
import Testing
import Wire

@Suite("Transport-wide feedback")
struct TransportWideFeedbackTests {
    func bytes(_ deltas: [Int16?]) -> [UInt8] {
        var writer = ByteWriter()
        TransportWideFeedback(
            senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: 0xFFFE, referenceTime: -2, feedbackCount: 3, arrivalDeltas: deltas
        ).write(into: &writer)
        return writer.bytes
    }

    static let header: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFE]

    @Test func `mixed symbols go in a vector of two-bit symbols`() {
        let expected: [UInt8] =
            [0x8F, 205, 0, 6] + Self.header + [
                0, 4, 0xFF, 0xFF, 0xFE, 3,  // four statuses, reference time −2, third feedback packet
                0xD2, 0x40,  // 11, then small, none, large, small
                4, 0xFF, 0xF0, 0xFF,  // deltas 4, −16, 255
                0, 0,
            ]
        #expect(bytes([4, nil, -16, 255]) == expected)
    }

    @Test func `long runs go in run length chunks`() {
        let written = bytes(Array(repeating: nil, count: 9000) + [0])
        #expect(Array(written[20..<26]) == [0x1F, 0xFF, 0x03, 0x29, 0xD0, 0x00])
    }

    @Test(arguments: 1..<40)
    func `is whole words whatever the count`(_ count: Int) {
        #expect(bytes(Array(repeating: 1, count: count)).count % 4 == 0)
    }

    func read(_ bytes: [UInt8]) -> TransportWideFeedback? {
        guard case .transportWide(let feedback)? = try? RTCPCompound.parse(bytes.span.bytes).first else { return nil }
        return feedback
    }

    @Test(
        arguments: [
            [0], [255, 256, -1, nil], Array(repeating: nil, count: 900) + [7], Array(repeating: 3, count: 100) + [nil, -9],
            Array(repeating: Int16.min, count: TransportWideFeedback.maximumStatusesRead),
        ] as [[Int16?]])
    func `what is written is read again`(_ deltas: [Int16?]) throws {
        let feedback = try #require(read(bytes(deltas)))
        #expect(feedback.arrivalDeltas == deltas && feedback.referenceTime == -2 && feedback.baseSequenceNumber == 0xFFFE)
    }

    /// As Chromium sends it: three quarters of its feedback is no whole words long.
    @Test func `feedback that is filled up with single bytes is read`() throws {
        let padded: [UInt8] = [0xAF, 205, 0, 5] + Self.header + [0, 1, 0, 0, 1, 0, 0x20, 0x01, 5, 1]
        #expect(try #require(read(padded)).arrivalDeltas == [5])
    }

    @Test func `many packets of few bytes name no more than one may`() {
        let one = bytes(Array(repeating: nil, count: TransportWideFeedback.maximumStatusesRead - 1) + [0])
        #expect(throws: Never.self) { try RTCPCompound.parse(one.span.bytes) }
        #expect(throws: RTCPError.tooManyPackets) { try RTCPCompound.parse((one + one).span.bytes) }
    }

    /// Chunks that we do not write: a vector of one-bit symbols, and a last run longer than what is counted.
    @Test func `one-bit vectors and runs beyond the count are read`() throws {
        let start: [UInt8] = [0x8F, 205, 0, 6] + Self.header
        let vector = try #require(read(start + [0, 3, 0, 0, 1, 0] + [0xA8, 0x00, 5, 6, 0, 0, 0, 0]))
        #expect(vector.arrivalDeltas == [5, nil, 6])
        let run = try #require(read(start + [0, 3, 0, 0, 1, 0] + [0x20, 0x20, 5, 6, 7, 0, 0, 0]))
        #expect(run.arrivalDeltas == [5, 6, 7])
    }

    @Test(
        arguments: [
            [0, 0, 0, 0, 1, 0, 0x20, 0x01, 5, 0, 0, 0],  // no status
            [0x08, 0x01, 0, 0, 1, 0, 0x1F, 0xFF, 0, 0, 0, 0],  // more statuses than are read
            [0, 2, 0, 0, 1, 0, 0x20, 0x00, 0x20, 0x02, 5, 6],  // a run of nothing
            [0, 1, 0, 0, 1, 0, 0x60, 0x01, 5, 6, 0, 0],  // the reserved symbol
            [0, 7, 0, 0, 1, 0, 0x20, 0x07, 1, 2, 3, 4],  // a delta is missing
            [0, 9, 0, 0, 1, 0, 0x20, 0x01, 0x20, 0x01, 0x20, 0x01],  // chunks are missing
        ] as [[UInt8]])
    func `feedback that contradicts itself is refused`(_ rest: [UInt8]) {
        let bytes = [0x8F, 205, 0, 6] + Self.header + rest + [0, 0]
        #expect(throws: RTCPError.invalidLength(packetType: 205)) { try RTCPCompound.parse(bytes.span.bytes) }
    }
}
