import Testing
import Wire

@Suite("Wall time")
struct WallTimeTests {
    /// Seconds by the clock since a wait of ten began, and whether it is over.
    @Test(arguments: [(0, false), (9, false), (10, true), (-1, false), (-10, false), (-11, true)] as [(Int64, Bool)])
    func `a wait is over when its time has passed, or where the clock was set back by more`(_ seconds: Int64, _ isPast: Bool) {
        let start = WallTime(secondsSince1970: 1_795_227_276)
        #expect((start + .seconds(seconds)).isPast(.seconds(10), since: start) == isPast)
    }
}
