import MP4
import StageHub
import Testing
import Wire

@testable import Recording

@Suite("EncoderMedia")
struct EncoderMediaTests {
    private static func append(
        _ payload: [UInt8], number: Int64, at timestamp: Int64, marker: Bool = true, to block: RecordingBlock
    ) {
        payload.withUnsafeBytes { bytes in
            let packet = MediaPacket(sequenceNumber: number, timestamp: timestamp, marker: marker, payload: bytes)
            _ = withUnsafePointer(to: packet) { block.append(UnsafeBufferPointer(start: $0, count: 1)[...], of: .video) }
        }
    }

    /// A layer of simulcast has a clock of its own, and a lost packet keeps what follows it waiting until the publish ends.
    @Test
    func `what waits behind a loss at the end is on the clock of the first layer too`() {
        let machine = SegmentMachine(target: .seconds(6), expectsVideo: true)
        let media = EncoderMedia(machine, tracksShareClock: false)
        var actions = media.take(RecordingTests.block(seconds: 1, firstNumber: 0))
        let block = RecordingBlock()
        block.begin(at: .zero)
        let other: Int64 = 5_000_000
        block.append(.layerBegan(shift: -other))
        let sets = SegmentScript.sets
        Self.append(sets.sequence[0], number: 10_000, at: other + 90_000, marker: false, to: block)
        Self.append(sets.picture[0], number: 10_001, at: other + 90_000, marker: false, to: block)
        Self.append([0x65, 1, 2], number: 10_002, at: other + 90_000, to: block)
        // 10,003 never comes; nobody knows whether 10,004 is the rest of its picture.
        for picture in 2...6 as ClosedRange<Int64> {
            Self.append([0x41, 3], number: 10_002 + picture, at: other + 90_000 + picture * 3_000, to: block)
        }
        actions += media.take(block)
        actions += media.finish()
        let samples = actions.reduce(0) { count, action in
            guard case .fragment(let fragment, _) = action else { return count }
            return count + fragment.runs.reduce(0) { $0 + $1.samples.count }
        }
        #expect(samples == 30 + 1 + 4)
        #expect(media.damagedPictureCount == 1)
    }
}
