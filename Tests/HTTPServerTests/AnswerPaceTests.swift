import Testing

@testable import HTTPServer

@Suite("Answer pace")
struct AnswerPaceTests {
    static let whole = 64 << 20
    /// What must be taken in a minute.
    static let least = 60 * AnswerPace.slowestRate

    @Test(
        arguments: [
            (whole, whole, false),  // nothing was taken
            (whole, whole - 1, false),  // a byte a minute
            (whole, whole - least + 1, false), (whole, whole - least, true), (whole, 1, true),
            (whole, 0, false),  // all of it: the client is idle
            (100, 1, false), (0, 0, false), (0, 100, false),
        ])
    func `who takes enough has another while`(_ untaken: Int, _ left: Int, _ isEnough: Bool) {
        #expect(AnswerPace(untaken: untaken, within: .seconds(60)).isEnough(left: left) == isEnough)
    }

    @Test func `who takes nothing never has another while, however short it is`() {
        #expect(!AnswerPace(untaken: 100, within: .zero).isEnough(left: 100))
    }

    @Test func `all of it is taken in bounded time`() {
        var (left, time) = (Self.whole, Duration.zero)
        let longest = AnswerPace(untaken: left, within: .seconds(60)).longestTime
        while left > 0 {
            let pace = AnswerPace(untaken: left, within: .seconds(60))
            left = max(0, left - Self.least)
            time += .seconds(60)
            #expect(left == 0 || pace.isEnough(left: left))
        }
        #expect(time <= longest && longest < .seconds(2 * 3_600))
    }
}
