import EventLoop
import Glibc
import Wire

/// Asks again every millisecond until `isSo` holds, which other threads bring about; false where `limit` has passed first.
@discardableResult
public func waitUntil(within limit: Duration = .seconds(60), _ isSo: () -> Bool) -> Bool {
    let end = EventLoop.monotonicNow() + limit
    while !isSo() {
        guard EventLoop.monotonicNow() < end else { return false }
        usleep(1_000)
    }
    return true
}
