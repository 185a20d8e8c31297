import Admission
import EventLoop
import RouterForwarding
import SRTP
import StageHub
import Wire

/// SRTP put on packets of 1,200 bytes and taken off again.
@safe final class UnprotectStep: MediaStep {
    let operations = 355
    private var inbound: SRTPInbound
    private var outbound: SRTPOutbound
    private let packet = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_240, alignment: 16)
    private var number = UInt16(0)

    init(_ profile: SRTPProfile) throws {
        let count = profile.masterKeyByteCount + profile.masterSaltByteCount
        let keys = SRTPKeys(profile: profile, keyAndSalt: Secret((0..<UInt8(count)).map { $0 }))
        inbound = try SRTPInbound(keys)
        outbound = try SRTPOutbound(keys)
        unsafe packet.initializeMemory(as: UInt8.self, repeating: 0x5A)
    }

    deinit { unsafe packet.deallocate() }

    /// Both ways, because no packet can be unprotected twice.
    func round() throws {
        for _ in 0..<operations {
            unsafe packet[0] = 0x80
            unsafe packet[1] = 96
            unsafe packet.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt16.self)
            number &+= 1
            let count = try unsafe outbound.protect(packet, count: 1_200)
            _ = try unsafe inbound.unprotect(UnsafeMutableRawBufferPointer(rebasing: packet[..<count]))
        }
    }
}

/// Packets from the hub to the kernel: numbering, the batch, and segmented sends to a port that nobody reads.
@safe final class ForwardingStep: MediaStep {
    let operations = 300
    private let socket: RouterSocket
    private let publication: Publication
    private let leg: RouterLeg
    private let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_172, alignment: 16)
    private let packets = UnsafeMutableBufferPointer<MediaPacket>.allocate(capacity: 10)
    private var number: Int64 = 0

    init() throws {
        let loop = try EventLoop()
        socket = try RouterSocket(loop: loop, address: SocketAddress(.loopback, port: 0))
        publication = Publication(
            grant: PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h"),
            lease: PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1), ingestProtocol: .rtmp,
            timeline: Timeline())
        leg = RouterLeg(publication: publication, socket: socket)
        unsafe payload.initializeMemory(as: UInt8.self, repeating: 0x41)
        publication.add(leg)
        let nowhere = SocketAddress(.loopback, port: 9)
        leg.open(
            LegPlan(cname: "p", tracks: [TrackPlan(track: .video, ssrc: 7, payloadType: 96, rtp: nowhere, rtcp: nowhere)]))
    }

    deinit {
        unsafe payload.deallocate()
        unsafe packets.deallocate()
    }

    func round() {
        for _ in 0..<30 {
            for index in unsafe 0..<packets.count {
                number += 1
                unsafe packets.initializeElement(
                    at: index,
                    to: MediaPacket(
                        sequenceNumber: number, timestamp: number / 10 * 3_000, marker: index == 9,
                        payload: UnsafeRawBufferPointer(payload)))
            }
            unsafe publication.forward(
                UnsafeBufferPointer(packets), of: MediaRun(track: .video, isKeyframe: false, arrival: .zero))
        }
    }
}
