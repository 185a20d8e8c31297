import Testing

@testable import Recording

@Suite("Where an encoder's tracks are")
struct EncoderProgressTests {
    private static let beginning = EncoderTime(ticks: 1 << 40)

    private static func progress(lastPicture: Int64?, soundUntil end: Int64?) -> EncoderProgress {
        var progress = EncoderProgress()
        progress.begin(at: beginning, as: .zero)
        if let lastPicture { progress.pictureCame(at: FileTime(ticks: lastPicture)) }
        if let end { progress.soundCame(until: FileTime(ticks: end)) }
        return progress
    }

    @Test
    func `times of an encoder are said in the file's, whatever its clock does`() {
        var progress = Self.progress(lastPicture: nil, soundUntil: nil)
        let fileTime = FileTime(ticks: 90)
        #expect(progress.inFile(Self.beginning + 90) == fileTime && progress.ofEncoder(fileTime) == Self.beginning + 90)
        progress.clockMoved(by: 10)
        #expect(progress.inFile(Self.beginning + 100) == fileTime && progress.ofEncoder(fileTime) == Self.beginning + 100)
    }

    /// Ten seconds forward, and half a second back, are no jump yet.
    @Test(arguments: [(1_000_000, false), (1_000_001, true), (55_000, false), (54_999, true)] as [(Int64, Bool)])
    func `a step that no gap explains is a jump`(_ time: Int64, _ isJump: Bool) {
        let progress = Self.progress(lastPicture: 100_000, soundUntil: nil)
        #expect(progress.isJump(to: FileTime(ticks: time), from: progress.lastVideo) == isJump)
    }

    @Test
    func `a track that pauses alone does not jump`() {
        let progress = Self.progress(lastPicture: 0, soundUntil: 2_000_000)
        #expect(!progress.isJump(to: FileTime(ticks: 2_000_000), from: progress.lastVideo))
    }

    @Test
    func `sound before a picture is there, or waited for half a second`() {
        let picture = FileTime(ticks: 90_000)
        #expect(Self.progress(lastPicture: 90_000, soundUntil: 90_000).hasSound(before: picture))
        #expect(!Self.progress(lastPicture: 134_999, soundUntil: 89_999).hasSound(before: picture))
        #expect(Self.progress(lastPicture: 135_000, soundUntil: nil).hasSound(before: picture))
    }
}
