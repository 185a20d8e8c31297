import Testing

@testable import Recording

@Suite("Where an encoder's tracks are")
struct EncoderTimesTests {
    private static let beginning: Int64 = 1 << 40

    private static func times(lastPicture: Int64?, soundUntil end: Int64?) -> EncoderTimes {
        var times = EncoderTimes()
        times.begin(at: beginning, as: 0)
        if let lastPicture { times.pictureCame(at: lastPicture) }
        if let end { times.soundCame(until: end) }
        return times
    }

    @Test
    func `times of an encoder are said in the file's, whatever its clock does`() {
        var times = Self.times(lastPicture: nil, soundUntil: nil)
        #expect(times.inFile(Self.beginning + 90) == 90 && times.ofEncoder(90) == Self.beginning + 90)
        times.clockMoved(by: 10)
        #expect(times.inFile(Self.beginning + 100) == 90 && times.ofEncoder(90) == Self.beginning + 100)
    }

    /// Ten seconds forward, and half a second back, are no jump yet.
    @Test(arguments: [(1_000_000, false), (1_000_001, true), (55_000, false), (54_999, true)] as [(Int64, Bool)])
    func `a step that no gap explains is a jump`(_ time: Int64, _ isJump: Bool) {
        let times = Self.times(lastPicture: 100_000, soundUntil: nil)
        #expect(times.isJump(to: time, from: times.lastVideo) == isJump)
    }

    @Test
    func `a track that pauses alone does not jump`() {
        let times = Self.times(lastPicture: 0, soundUntil: 2_000_000)
        #expect(!times.isJump(to: 2_000_000, from: times.lastVideo))
    }

    @Test
    func `sound before a picture is there, or waited for half a second`() {
        #expect(Self.times(lastPicture: 90_000, soundUntil: 90_000).hasSound(before: 90_000))
        #expect(!Self.times(lastPicture: 134_999, soundUntil: 89_999).hasSound(before: 90_000))
        #expect(Self.times(lastPicture: 135_000, soundUntil: nil).hasSound(before: 90_000))
    }
}
