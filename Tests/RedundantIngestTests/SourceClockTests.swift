import StageHub
import TestSupport
import Testing
import Wire

@testable import RedundantIngest

@Suite("Clocks of two encoders")
struct SourceClockTests {
    private static let hour: Int64 = 3_600_000_000_000

    private func clock(_ delay: Int64, _ kind: SourceClock.Told? = nil, _ offset: Int64 = 0) -> SourceClock {
        SourceClock(delay: delay * 1_000_000, told: kind.map { ($0, offset * 1_000_000) })
    }

    /// Of what comes so many ms later than the former's, by media time.
    @Test(arguments: [(0 as Int64, 0 as Int64), (249, 0), (-249, 0), (250, 250), (-3_600_000, -3_600_000)])
    func `timestamps that agree are of one clock, others go by when they come`(later: Int64, distance: Int64) {
        #expect(clock(700 + later).distance(from: clock(700)) == distance * 1_000_000)
    }

    @Test(arguments: [SourceClock.Told.composed, .timecode])
    func `a clock that both tell of decides`(kind: SourceClock.Told) {
        // Its timestamps are an hour further, and it is 400 ms behind.
        let (one, two) = (clock(700, kind, 50_000), clock(700 - 3_600_000 + 400, kind, 50_000 - 3_600_000))
        #expect(two.distance(from: one) == -Self.hour)
        #expect(one.distance(from: two) == Self.hour)
        #expect(clock(700 - 3_600_000 + 400).distance(from: one) == 400_000_000 - Self.hour, "only one tells")
        // Agreeing timestamps are not believed where clocks say that pictures are 100 ms apart.
        #expect(clock(700, kind, 50_100).distance(from: one) == 100_000_000)
    }

    @Test func `clocks of two kinds, and one that is set wrong, are none`() {
        #expect(clock(900, .timecode, 0).distance(from: clock(500, .composed, 0)) == 400_000_000)
        #expect(clock(900, .composed, 1_401).distance(from: clock(500, .composed, 0)) == 400_000_000)
        #expect(clock(900, .composed, 1_400).distance(from: clock(500, .composed, 0)) == 1_400_000_000)
    }

    @Test(arguments: [-86_400_000, 0, 86_400_000] as [Int64])
    func `timecodes begin anew at midnight`(day: Int64) {
        let one = clock(700, .timecode, 86_300_000)
        #expect(clock(900, .timecode, 86_300_150 + day).distance(from: one) == 150_000_000)
    }

    @Test func `the newest keyframe that tells is believed, wherever in its run it does`() {
        var reader = ToldClockReader()
        reader.look(at: block(at: 90_000, isKeyframe: false, isLast: true, [message("12:00:00")]))
        #expect(reader.told == nil)
        reader.look(at: block(at: 180_000, isKeyframe: true, isLast: false, [[0x65, 1, 2, 3]]))
        reader.look(at: block(at: 180_000, isKeyframe: false, isLast: true, [[0x41, 1], message("12:00:05")]))
        let noon: Int64 = 1_767_355_200_000_000_000
        #expect(reader.told?.kind == .composed && reader.told?.offset == noon + 3_000_000_000)
        reader.look(at: block(at: 270_000, isKeyframe: true, isLast: true, [[0x65, 1]]))
        reader.look(at: block(at: 360_000, isKeyframe: false, isLast: true, [message("12:00:09")]))
        #expect(reader.told?.offset == noon + 3_000_000_000)
    }

    /// When its picture was composed, of the second of January.
    private func message(_ clock: String) -> [UInt8] {
        let identifier: [UInt8] = [
            0x0A, 0xEC, 0xFF, 0xE7, 0x52, 0x72, 0x4E, 0x2F, 0xA6, 0x2F, 0xD1, 0x9C, 0xD6, 0x1A, 0x93, 0xB5,
        ]
        let payload = identifier + [0, 1, 1] + Array("2026-01-02T\(clock).000Z".utf8) + [0]
        return [6, 5, UInt8(payload.count)] + payload + [0x80]
    }

    /// - Parameter isLast: else a packet more is in its run than there is room for.
    private func block(at timestamp: Int64, isKeyframe: Bool, isLast: Bool, _ payloads: [[UInt8]]) -> FeedBlock {
        let (block, tooMuch) = (FeedBlock(), [UInt8](repeating: 0x41, count: FeedBlock.size))
        let bytes = payloads.joined() + tooMuch
        unsafe Array(bytes).withUnsafeBytes { memory in
            var (packets, place) = ([MediaPacket](), 0)
            for count in payloads.map(\.count) + (isLast ? [] : [tooMuch.count]) {
                let payload = unsafe UnsafeRawBufferPointer(rebasing: memory[place..<place + count])
                unsafe packets.append(MediaPacket(sequenceNumber: 0, timestamp: timestamp, marker: false, payload: payload))
                place += count
            }
            unsafe packets.withUnsafeBufferPointer { all in
                let run = MediaRun(track: .video, isKeyframe: isKeyframe, arrival: .zero)
                #expect(unsafe block.fill(all[...], of: run, news: [], followsLoss: false) == payloads.count)
            }
        }
        return block
    }
}
