import Admission
import HTTPServer

/// One page that is told who is live. Confined to its worker.
final class WatchStream {
    /// The endpoint's name for it.
    let number: Int
    /// What it showed at the door, and shows again while it lives.
    let request: SubscribeRequest
    /// The board's name for it.
    let watcher: Int
    /// Its place among the pages that watch.
    let place: UInt64
    private let events: HTTPEventStream

    init(number: Int, request: SubscribeRequest, watcher: Int, place: UInt64, events: HTTPEventStream) {
        (self.number, self.request, self.watcher, self.place, self.events) = (number, request, watcher, place, events)
    }

    func send(_ event: WatchEvent) { events.send(event.serverSent) }
    func close() { events.close() }
}
