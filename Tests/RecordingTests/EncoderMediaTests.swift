import MP4
import StageHub
import Testing
import Wire

@testable import Recording

@Suite("EncoderMedia")
struct EncoderMediaTests {
    private static func append(
        _ payload: [UInt8], number: Int64, at timestamp: Int64, of kind: MediaKind = .video, marker: Bool = true,
        to block: RecordingBlock
    ) {
        payload.withUnsafeBytes { bytes in
            let packet = MediaPacket(sequenceNumber: number, timestamp: timestamp, marker: marker, payload: bytes)
            _ = withUnsafePointer(to: packet) { block.append(UnsafeBufferPointer(start: $0, count: 1)[...], of: kind) }
        }
    }

    private static func copyPictures(of pictures: RecordingBlock, at times: Range<Int64>, to block: RecordingBlock) {
        for case .packet(_, let number, let timestamp, let marker, let range) in pictures.entries where times ~= timestamp {
            append(Array(pictures.bytes[range]), number: number, at: timestamp, marker: marker, to: block)
        }
    }

    /// An encoder's first packets often come late, and what is known of the clocks is better a second later.
    @Test(arguments: [-75_000, -13_500, 0, 13_500, 75_000] as [Int64])
    func `sound of the first second goes where later readings have it, without a gap`(_ error: Int64) {
        let media = EncoderMedia(SegmentMachine(target: .seconds(6), expectsVideo: true), tracksShareClock: false)
        let pictures = RecordingTests.block(seconds: 3, firstNumber: 0)
        var actions: [SegmentMachine.Action] = []
        for step in 0..<150 as Range<Int64> {
            let (now, block) = (MonotonicTime.zero + .milliseconds(20 * step), RecordingBlock())
            block.begin(at: now)
            if step == 0 { block.append(.opusFormat(isStereo: true)) }
            if step == 0 || step == 45 || step == 95 {
                block.append(.clock(.video, time: now, timestamp: step * 1_800))
                block.append(.clock(.audio, time: now, timestamp: step * 960 - (step == 0 ? error * 8 / 15 : 0)))
            }
            Self.append([0xF8, 1, 2], number: step, at: step * 960, of: .audio, to: block)
            Self.copyPictures(of: pictures, at: step * 1_800..<(step + 1) * 1_800, to: block)
            actions += media.take(block)
        }
        actions += media.finish()
        let runs = actions.flatMap { action in
            guard case .fragment(let fragment, _) = action else { return [Fragment.Run]() }
            return fragment.runs.filter { $0.trackID == TrackDescriptions.audioTrackID }
        }
        // What was placed before the first picture is left out.
        #expect(runs.first.map { $0.decodeTime < 960 + UInt64(max(0, -error)) * 8 / 15 } == true)
        #expect(runs.flatMap(\.samples).allSatisfy { abs(Int64($0.duration) - 960) <= 1 })
        #expect(runs.reduce(0) { $0 + $1.samples.count } >= 140 - Int(max(0, -error)) / 1_800)
    }

    /// What is cut off is written when the next encoder's clock is known already.
    @Test
    func `a segment that another encoder cuts off has the date at which it came`() {
        let media = EncoderMedia(SegmentMachine(target: .seconds(6), expectsVideo: true), tracksShareClock: false)
        let (came, block) = (MonotonicTime.zero + .seconds(1_000), RecordingBlock())
        block.begin(at: came)
        block.append(.clock(.video, time: came, timestamp: 0))
        Self.copyPictures(of: RecordingTests.block(seconds: 1, firstNumber: 0), at: 0..<45_000, to: block)
        block.append(.restarted)
        block.append(.clock(.video, time: came + .milliseconds(600), timestamp: 60 * 90_000))
        let now = (monotonic: came + .seconds(1), wall: WallTime(secondsSince1970: 1_704_110_455))
        let dates = media.take(block).compactMap { action -> WallTime? in
            guard case .segmentBegan(_, _, _, _, let time) = action else { return nil }
            return media.wallTime(of: time, now: now)
        }
        #expect(dates == [now.wall + .seconds(-1)])
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
