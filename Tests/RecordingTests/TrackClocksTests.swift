import Testing
import Wire

@testable import Recording

/// Of moments a second ago, by whatever clock the encoder has by now.
@Suite("TrackClocks")
struct TrackClocksTests {
    private static let wall = WallTime(secondsSince1970: 1_704_110_455)
    private static let now = (monotonic: MonotonicTime.zero + .seconds(5_000), wall: wall)
    private static let secondAgo = EncoderTime(ticks: 800_000_000 - 90_000)

    private static func reading(_ ticks: Int64, secondsAgo: Int = 0) -> TrackClocks.Reading {
        .init(time: now.monotonic - .seconds(secondsAgo), encoderTime: EncoderTime(ticks: ticks))
    }

    private static func clocks(isShared: Bool) -> TrackClocks {
        var clocks = TrackClocks(isShared: isShared)
        clocks.videoRead(reading(800_000_000 - 180_000, secondsAgo: 2))
        return clocks
    }

    private static func date(by clocks: TrackClocks) -> WallTime { clocks.wallTime(of: secondAgo, now: now) }

    @Test(arguments: [true, false])
    func `the former encoder's moments keep their dates, whatever the next one's stamps are`(isShared: Bool) {
        for ticks in [800_000_000 + 40 * 90_000, 800_000_000 - 40 * 90_000, 0, 1 << 40] as [Int64] {
            var clocks = Self.clocks(isShared: isShared)
            clocks.restart()
            #expect(Self.date(by: clocks) == Self.wall + .seconds(-1))
            clocks.audio = (Self.now.monotonic, ticks / 15 * 8)
            clocks.videoRead(Self.reading(ticks))
            #expect(Self.date(by: clocks) == Self.wall + .seconds(-1), "\(ticks)")
        }
    }

    @Test
    func `a moment from before a jump keeps its date`() {
        var clocks = Self.clocks(isShared: false)
        clocks.videoRead(Self.reading(800_000_000 + 60 * 90_000))
        #expect(Self.date(by: clocks) == Self.wall + .seconds(-1))
    }

    @Test
    func `a moment keeps its date where nobody knows how the next layer lies to its own`() {
        var clocks = Self.clocks(isShared: false)
        clocks.layerBegan(shift: nil)
        clocks.videoRead(Self.reading(7))
        #expect(Self.date(by: clocks) == Self.wall + .seconds(-1))
    }

    @Test
    func `sound alone keeps its date when pictures come`() {
        var clocks = TrackClocks(isShared: false)
        let time = EncoderTime(ticks: 4_999 * 90_000)
        clocks.videoRead(Self.reading(7))
        #expect(clocks.wallTime(of: time, now: Self.now) == Self.wall + .seconds(-1))
    }

    @Test
    func `a moment of a clock that nobody has read is now, and so is one that is ahead`() {
        var clocks = TrackClocks(isShared: true)
        #expect(Self.date(by: clocks) == Self.wall)
        clocks.videoRead(Self.reading(800_000_000 + 121 * 90_000))
        #expect(Self.date(by: clocks) == Self.wall)
        clocks.videoRead(Self.reading(800_000_000 - 100 * 90_000))
        #expect(Self.date(by: clocks) == Self.wall)
    }
}
