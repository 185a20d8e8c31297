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
    var keyframeRequests = 0
    var limit: Int??
    let canRequestKeyframe = true

    init() throws {
        loop = try EventLoop()
        socket = try RouterSocket(loop: loop, address: SocketAddress(.loopback, port: 0))
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

    func requestKeyframe(_ track: TrackID) { keyframeRequests += 1 }
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

    func wait(until isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: .seconds(20)) }

    func send(_ packet: RTCPPacket, through socket: UDPSocket) {
        var writer = ByteWriter()
        packet.write(into: &writer)
        socket.send(writer.bytes, to: from ?? self.socket.localAddress)
    }
}
