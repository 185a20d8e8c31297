import Admission
import EventLoop
import RTCP
import RTP
import SRTP
import Sockets
import StageHub
import Wire

@testable import RouterForwarding

/// A receiver on real sockets, and a publication whose media goes there.
final class Bench: MediaSource {
    let loop: EventLoop
    let socket: RouterSocket
    let publication: Publication
    let receiver: UDPSocket
    let reports: UDPSocket
    var leg: RouterLeg?
    var packets: [(header: RTPHeader, bytes: [UInt8])] = []
    var control: [RTCPPacket] = []
    var from: SocketAddress?
    var keyframeRequests: Int { requested.count }
    /// Whose keyframes were asked for.
    var requested: [TrackID] = []
    var limit: Int??
    let canRequestKeyframe = true

    init(metrics: RouterMetrics? = nil) throws {
        loop = try EventLoop()
        socket = try RouterSocket(loop: loop, address: SocketAddress(.loopback, port: 0), metrics: metrics)
        receiver = try UDPSocket(loop: loop, address: SocketAddress(.loopback, port: 0))
        reports = try UDPSocket(loop: loop, address: SocketAddress(.loopback, port: 0))
        publication = Publication(
            grant: PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h"),
            lease: PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1), ingestProtocol: .whip,
            timeline: Timeline())
        publication.source = self
        let leg = RouterLeg(publication: publication, socket: socket)
        self.leg = leg
        publication.add(leg)
        receiver.onDatagrams = { [unowned self] batch in
            for datagram in batch {
                let bytes = Array(datagram.payload)
                if let header = try? RTPHeader(parsing: bytes.span.bytes) { packets.append((header, bytes)) }
            }
        }
        reports.onDatagrams = { [unowned self] batch in
            for datagram in batch {
                from = datagram.source
                control += (try? RTCPCompound.parse(Array(datagram.payload).span.bytes)) ?? []
            }
        }
    }

    var plan: LegPlan {
        LegPlan(
            cname: "p",
            tracks: [
                TrackPlan(track: .video, ssrc: 77, payloadType: 96, rtp: receiver.localAddress, rtcp: reports.localAddress)
            ])
    }

    var planWithSound: LegPlan {
        var plan = plan
        plan.tracks.append(
            TrackPlan(track: .audio, ssrc: 78, payloadType: 111, rtp: receiver.localAddress, rtcp: reports.localAddress))
        return plan
    }

    func requestKeyframe(_ track: TrackID) { requested.append(track) }
    func limitBitrate(_ bitsPerSecond: Int?) { limit = bitsPerSecond }

    func publish(_ number: Int64, isKeyframe: Bool = false, count: Int = 1, size: Int = 500) {
        publication.timeline.observe(number * 3000, of: .video, arrival: loop.now)
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
        bytes.withUnsafeBytes { payload in
            let packets = (0..<count).map { index in
                MediaPacket(
                    sequenceNumber: number + Int64(index), timestamp: number * 3000, marker: index == count - 1, payload: payload)
            }
            let run = MediaRun(track: .video, isKeyframe: isKeyframe, arrival: loop.now)
            packets.withUnsafeBufferPointer { publication.forward($0, of: run) }
        }
    }

    /// One packet of a layer: its frame by number, at that time of the encoder's, on a clock of the layer's own.
    func publish(_ frame: Int64, layer: UInt8, isKeyframe: Bool = false, clock: Int64 = 0, from start: MonotonicTime) {
        let track = TrackID(.video, layer: layer)
        let arrival = start + .nanoseconds(frame * 100_000_000 / 3)
        publication.timeline.observe(frame * 3000 + clock, of: track, arrival: arrival)
        let bytes = [layer, UInt8(truncatingIfNeeded: frame)] + [UInt8](repeating: 0, count: 100)
        bytes.withUnsafeBytes { payload in
            let packet = MediaPacket(
                sequenceNumber: frame + 1000 * Int64(layer), timestamp: frame * 3000 + clock, marker: true, payload: payload)
            let run = MediaRun(track: track, isKeyframe: isKeyframe, arrival: arrival)
            withUnsafePointer(to: packet) { publication.forward(UnsafeBufferPointer(start: $0, count: 1), of: run) }
        }
    }

    /// One packet of sound, whose payload begins with 9: the `number`-th of 20 ms.
    func publishSound(_ number: Int64, from start: MonotonicTime) {
        let arrival = start + .milliseconds(20 * number)
        publication.timeline.observe(number * 960, of: .audio, arrival: arrival)
        ([9, 0, 0] as [UInt8]).withUnsafeBytes { payload in
            let packet = MediaPacket(sequenceNumber: number, timestamp: number * 960, marker: false, payload: payload)
            let run = MediaRun(track: .audio, isKeyframe: false, arrival: arrival)
            withUnsafePointer(to: packet) { publication.forward(UnsafeBufferPointer(start: $0, count: 1), of: run) }
        }
    }

    /// Sizes of the layers, by place.
    func setSizes(_ widths: Int..., at now: MonotonicTime) {
        for (layer, width) in widths.enumerated() {
            publication.setPictureSize(width: width, height: width, of: TrackID(.video, layer: UInt8(layer)), at: now)
        }
    }

    /// Each layer under an SSRC of its own: 70, 71, 72 by place.
    func layeredPlan(_ count: UInt8 = 3) -> LegPlan {
        var plan = self.plan
        plan.tracks = (0..<count).map { layer in
            var track = plan.tracks[0]
            (track.track, track.ssrc, track.isLayer) = (TrackID(.video, layer: layer), 70 + UInt32(layer), true)
            return track
        }
        return plan
    }

    func wait(until isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: .seconds(120)) }

    /// Whether so many packets come, where all that will come have been sent.
    func comes(_ count: Int) -> Bool { loop.run(until: { packets.count == count }, within: .seconds(1)) }

    func send(_ packet: RTCPPacket, through socket: UDPSocket) {
        var writer = ByteWriter()
        packet.write(into: &writer)
        socket.send(writer.bytes, to: from ?? self.socket.localAddress)
    }
}
