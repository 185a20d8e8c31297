import Foundation
import Testing

/// What a machine that is busy with others gets beyond what a quiet one needs: it is what happens that is judged.
private let busyMachine = Duration.seconds(120)

/// Asks again every few milliseconds until `condition` holds; false when `limit` and what a busy machine gets have passed first.
///
/// Most conditions start a program to ask with: they wait four times as long as that took, so that the processors are for what is
/// waited for.
func holds(within limit: Duration, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now.advanced(by: limit + busyMachine)
    while true {
        let begin = ContinuousClock.now
        if try condition() { return true }
        let now = ContinuousClock.now
        guard now < end else { return false }
        let pause = min(max(.milliseconds(10), (now - begin) * 4), .milliseconds(250))
        poll(nil, 0, CInt(pause / .milliseconds(1)))
    }
}

extension Duration {
    /// For a script that drives a browser: before that it ends by itself, and says why (`Clients/webdriver.py`).
    static let browserScript = Duration.seconds(430)
}

/// Lets the outside world go on for a time: a stream has to run before it can be judged.
func letPass(_ time: Duration) {
    let end = ContinuousClock.now.advanced(by: time)
    while ContinuousClock.now < end { poll(nil, 0, 10) }
}

/// Records an issue unless `condition` comes true in time.
/// - Parameter comment: made when it has not, so that what it shows is of that moment.
func expect(
    _ comment: @autoclosure () throws -> Comment, within limit: Duration, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) rethrows {
    let isTrue = try holds(within: limit, condition)
    if !isTrue { Issue.record(try comment(), sourceLocation: sourceLocation) }
}
