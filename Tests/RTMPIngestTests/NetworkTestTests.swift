import Testing

@testable import RTMPIngest

@Suite("What may have been a network test")
struct NetworkTestTests {
    /// - Parameter kilobytes: of each second, the last one hardly whole.
    private static func test(_ kilobytes: [Int]) -> Bool {
        var (test, total) = (NetworkTest(), 0)
        for second in kilobytes.dropLast() {
            total += second * 1_000
            test.secondPassed(byteCount: total)
        }
        return test.isLikely(byteCount: total + (kilobytes.last ?? 0) * 1_000)
    }

    @Test(arguments: [
        // The default of 8 s, rates in steps of two seconds and of one, and the longest.
        [100, 100, 200, 200, 400, 400, 800, 800], [100, 150, 200, 250, 300, 350, 400, 450],
        [100, 100, 100, 100, 150, 150, 150, 150, 300, 300, 600, 600],
        // Steps that do not lie as the pairs do, a keyframe in every second second, and a moment more.
        [100, 200, 200, 400, 400, 800, 800, 1_600], [150, 80, 300, 170, 450, 260, 600, 340],
        [100, 100, 200, 200, 400, 400, 800, 800, 20],
    ])
    func `a short one at rates in steps was`(_ kilobytes: [Int]) { #expect(Self.test(kilobytes)) }

    @Test(arguments: [
        // Even rates, as encoders keep them, for whatever time, with and without keyframes.
        Array(repeating: 300, count: 8), [400, 200, 400, 200, 400, 200, 400, 200], [600, 200, 200, 200, 600, 200, 200, 200], [],
        [300],
        // A beginning in black, which is one step.
        [20, 20, 300, 300, 300, 300, 300, 300], [20, 20, 20, 300, 300, 300, 300, 300],
        // What falls in between follows the picture, or an encoder that adapts.
        [100, 100, 300, 300, 200, 200, 500, 500], [100, 100, 200, 200, 400, 400, 100, 100],
        // Too short to tell, and too long for a test.
        [100, 100, 200, 200, 400, 400, 800], [100, 200, 400, 800],
        [100, 100, 200, 200, 400, 400, 800, 800, 800, 800, 800, 800, 800], Array(stride(from: 100, to: 10_000, by: 100)),
    ])
    func `whatever else, was a publish`(_ kilobytes: [Int]) { #expect(!Self.test(kilobytes)) }
}
