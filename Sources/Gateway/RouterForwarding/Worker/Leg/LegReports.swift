import EventLoop
import RTCP
import StageHub
import Wire

/// Says where a leg's tracks are: SR and CNAME (RFC 3550 §6.1). All tracks' reports come from one timeline, whatever the moment
/// each is made.
struct LegReports {
    private let timeline: Timeline
    private let socket: RouterSocket
    /// Wall clock less monotonic clock, fixed for the leg: a step of the system's clock is no business of receivers.
    private let wallOffset: Duration

    init(_ timeline: Timeline, through socket: RouterSocket) {
        (self.timeline, self.socket) = (timeline, socket)
        wallOffset = .nanoseconds(EventLoop.wallNow().nanosecondsSince1970 - EventLoop.monotonicNow().nanoseconds)
    }

    /// Says nothing before the track's first packet, nor as long as its layer has no time.
    /// - Parameter more: what follows in the same compound.
    func send(of track: RouterTrack, cname: String, under protection: LegProtection?, and more: RTCPPacket?) {
        let now = socket.loop.now
        guard track.packetCount > 0, let layer = track.layer, let timestamp = timeline.timestamp(of: layer, at: now) else {
            return
        }
        track.hasReported = true
        let wall = WallTime(nanosecondsSince1970: now.nanoseconds) + wallOffset
        var writer = ByteWriter(reserving: 128)
        track.senderReport(ntp: wall.ntp, timestamp: timestamp).write(into: &writer)
        SourceDescription(chunks: [.init(ssrc: track.plan.ssrc, cname: cname)]).write(into: &writer)
        more?.write(into: &writer)
        guard let protection else { return socket.sendReport(writer.bytes, to: track.plan.rtcp) }
        if let bytes = protection.protect(control: writer.bytes) { socket.sendReport(bytes, to: track.plan.rtcp) }
    }
}
