import Testing
import Wire

@testable import RTMPIngest

@Suite("Media that comes late")
struct MediaDelayTests {
    private final class Looks {
        private var delay = MediaDelay()

        /// - Returns: the delay that is told, in seconds.
        func look(_ mediaTime: Int, due: Int, at second: Int) -> Int64? {
            let now = MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
            return delay.look(.seconds(mediaTime), due: .seconds(due), at: now).map { $0.milliseconds / 1_000 }
        }
    }

    private let looks = Looks()

    @Test func `is told once it has lasted, and when it has doubled`() {
        var told: [Int: Int64] = [:]
        for second in 1...60 { told[second] = looks.look(second, due: second + (second < 30 ? 3 : 6), at: second) }
        #expect(told == [11: 3, 30: 6])
    }

    @Test func `is not told while it is short, and is forgotten when it has gone`() {
        for second in 1...100 {
            #expect(looks.look(second, due: second + (second % 10 == 0 ? 1 : 3), at: second) == nil)
        }
    }

    /// There is a deadline for that.
    @Test func `is none where nothing comes any more`() {
        for second in 1...100 { #expect(looks.look(1, due: second, at: second) == nil) }
    }
}
