import Sockets

/// The sockets that one worker reads.
struct WorkerSockets: Sendable {
    var index: Int
    var rtmp: BoundSocket?
    var http: BoundSocket?
    var https: BoundSocket?
    var shared: BoundSocket?
    var media: BoundSocket?
    var mediaTCP: BoundSocket?

    /// A group has one for each worker, or none; of a media port that was given as one socket the first worker has all.
    init(index: Int, _ listeners: Listeners) {
        func own(_ group: [BoundSocket]) -> BoundSocket? { index < group.count ? group[index] : nil }
        self.index = index
        (rtmp, shared) = (own(listeners.rtmp), own(listeners.shared))
        (http, https) = (own(listeners.publicHTTP), own(listeners.publicHTTPS))
        (media, mediaTCP) = (own(listeners.media), own(listeners.mediaTCP))
    }
}
