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

    init(index: Int, _ listeners: Listeners) {
        self.index = index
        rtmp = listeners.rtmp.isEmpty ? nil : listeners.rtmp[index]
        http = listeners.publicHTTP.isEmpty ? nil : listeners.publicHTTP[index]
        https = listeners.publicHTTPS.isEmpty ? nil : listeners.publicHTTPS[index]
        shared = listeners.shared.isEmpty ? nil : listeners.shared[index]
        media = index < listeners.media.count ? listeners.media[index] : nil
        mediaTCP = listeners.mediaTCP.isEmpty ? nil : listeners.mediaTCP[index]
    }
}
