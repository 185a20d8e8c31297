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
}
