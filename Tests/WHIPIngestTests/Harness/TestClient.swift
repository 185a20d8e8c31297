import DTLS
import Foundation
import HTTP
import RTCP
import SDP
import SRTP
import STUN
import Wire

/// A whole WHIP client out of our own client parts: UDP sockets, checks, DTLS in either role, SRTP.
final class TestClient {
    let token: String
    private let userAgent: String
    let certificate: DTLSCertificate
    private(set) var answer: SessionDescription?
    private(set) var location = ""
    private(set) var etag = ""
    var sockets: [ClientSocket] = []
    var remote: SocketAddress?
    var ufrag = ""
    var password: [UInt8] = []
    let stun = STUNClient()
    var dtls: DTLSConnection?
    private(set) var isConnected = false
    private(set) var isClosedByPeer = false
    private var inbound: SRTPInbound?
    private var outbound: SRTPOutbound?
    private let isPassive: Bool
    /// Layers that the offer sends in simulcast.
    var rids: [String] = []
    var sequenceNumber: UInt16 = 1_000
    var timestamp: UInt32 = 9_000
    private(set) var control: [RTCPPacket] = []
    /// The socket whose path is used to send.
    var active = 0
    /// Datagrams of the peer that are thrown away.
    var dropsFirstFlight = false

    private static let sharedCertificate = Result { () throws(DTLSError) in try DTLSCertificate.make() }

    init(token: String, isPassive: Bool = false, userAgent: String = "") throws {
        (self.token, self.isPassive, self.userAgent) = (token, isPassive, userAgent)
        certificate = try Self.sharedCertificate.get()
        sockets = [ClientSocket()]
    }

    func offer(fingerprint: [UInt8]? = nil) -> String {
        let print = Fingerprint(hashFunction: "sha-256", bytes: fingerprint ?? certificate.fingerprint).attributeValue
        let transport =
            "c=IN IP4 0.0.0.0\r\na=ice-ufrag:peer\r\na=ice-pwd:0123456789012345678901\r\na=fingerprint:\(print)\r\n"
            + "a=setup:\(isPassive ? "passive" : "actpass")\r\na=sendonly\r\na=rtcp-mux\r\n"
        return "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n"
            + "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" + transport
            + "a=mid:0\r\na=rtpmap:111 opus/48000/2\r\na=ssrc:\(audioSSRC) cname:x\r\n"
            + "m=video 9 UDP/TLS/RTP/SAVPF 96\r\n" + transport
            + "a=mid:1\r\na=rtpmap:96 H264/90000\r\n"
            + (rids.isEmpty ? "a=ssrc:\(videoSSRC) cname:x\r\n" : layers)
            + "a=fmtp:96 packetization-mode=1;profile-level-id=42e01f\r\na=rtcp-fb:96 nack\r\na=rtcp-fb:96 nack pli\r\n"
    }

    /// As OBS 32 writes them: without a=ssrc.
    private var layers: String {
        "a=extmap:2 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r\n" + rids.map { "a=rid:\($0) send\r\n" }.joined()
            + "a=simulcast:send \(rids.joined(separator: ";"))\r\n"
    }

    lazy var videoSSRC = UInt32.random(in: 1_000...UInt32.max)
    lazy var audioSSRC = videoSSRC &+ 1

    /// POSTs the offer and takes in the answer.
    @discardableResult
    func post(to gateway: TestGateway, fingerprint: [UInt8]? = nil, from source: String = "192.0.2.1:1000", worker: Int = 0)
        -> Int
    {
        let response = gateway.post(
            offer(fingerprint: fingerprint), token: token, by: userAgent, from: source, worker: worker)
        guard response.status == .created, let answer = try? SessionDescription(parsing: response.body) else {
            return response.status.code
        }
        self.answer = answer
        location = response.headers["Location"] ?? ""
        etag = response.headers["ETag"] ?? ""
        let section = answer.media[0].attributes
        ufrag = section.value(of: "ice-ufrag") ?? ""
        password = Array((section.value(of: "ice-pwd") ?? "").utf8)
        remote = answer.media.flatMap { $0.attributes.all(Candidate.self) }.first?.address
        return response.status.code
    }

    // MARK: - ICE and DTLS

    /// Sends a check from one socket.
    func check(_ index: Int = 0, useCandidate: Bool = true, password: [UInt8]? = nil) {
        guard let remote else { return }
        sockets[index].send(
            stun.check(username: ufrag + ":peer", password: password ?? self.password, useCandidate: useCandidate), to: remote)
    }

    /// Checks until a response comes back on that socket.
    func connectICE(_ index: Int = 0, useCandidate: Bool = true) -> Bool {
        for _ in 0..<600 {
            check(index, useCandidate: useCandidate)
            if waitForSTUN(index) { return true }
        }
        return false
    }

    private func waitForSTUN(_ index: Int) -> Bool {
        let end = Date().addingTimeInterval(0.1)
        while Date() < end {
            guard let datagram = sockets[index].receive(within: 20) else { continue }
            // Answers to what others sent from here say nothing of ours.
            if datagram.first! >= 4 { handle(datagram, from: index) } else if stun.read(datagram) == .success { return true }
        }
        return false
    }

    /// Runs DTLS to its end.
    func connectDTLS(within limit: Double = 60) throws -> Bool {
        guard let text = answer?.media[0].attributes.first(Fingerprint.self) else { return false }
        let expected = [CertificateFingerprint(hash: text.hashFunction, bytes: text.bytes)]
        if dtls == nil {
            dtls = try DTLSConnection(DTLSContext(certificate), role: isPassive ? .server : .client, expecting: expected)
            if !isPassive { try dtls?.start() }
        }
        sendFlights()
        let end = Date().addingTimeInterval(limit)
        var timer = Date()
        while !isConnected, !isClosedByPeer, Date() < end {
            pump(within: 5)
            if let timeout = dtls?.timeout, timeout < .milliseconds(2), Date() > timer {
                try? dtls?.timeoutExpired()
                sendFlights()
                timer = Date().addingTimeInterval(0.02)
            }
        }
        return isConnected
    }

    func sendFlights() {
        guard let remote else { return }
        for datagram in dtls?.takeOutgoing() ?? [] { sockets[active].send(datagram, to: remote) }
    }

    /// Takes in whatever waits on all sockets.
    func pump(within milliseconds: Int32 = 1) {
        for index in sockets.indices {
            while let datagram = sockets[index].receive(within: milliseconds) { handle(datagram, from: index) }
        }
    }

    private func handle(_ datagram: [UInt8], from index: Int) {
        switch datagram[0] {
        case 20...63: handleDTLS(datagram)
        case 128...191: handleControl(datagram)
        default: break
        }
    }

    private func handleDTLS(_ datagram: [UInt8]) {
        if dropsFirstFlight {
            dropsFirstFlight = false
            return
        }
        let event = try? datagram.withUnsafeBytes { try dtls?.receive($0) }
        sendFlights()
        switch event {
        case .completed(let number, let exported):
            guard let profile = SRTPProfile(rawValue: number) else { return }
            let keys = SRTPKeys.pair(exported: exported, profile: profile)
            inbound = try? SRTPInbound(isPassive ? keys.client : keys.server)
            outbound = try? SRTPOutbound(isPassive ? keys.server : keys.client)
            isConnected = true
        case .closedByPeer: isClosedByPeer = true
        default: break
        }
    }

    private func handleControl(_ datagram: [UInt8]) {
        var buffer = datagram
        guard inbound != nil, let count = try? buffer.withUnsafeMutableBytes({ try inbound!.unprotectControl($0) }) else {
            return
        }
        let plain = Array(buffer[..<count])
        if let packets = try? RTCPCompound.parse(plain.span.bytes) { control += packets }
    }

    // MARK: - Media

    static let sequenceSet: [UInt8] = [
        0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x01, 0x40, 0x16, 0xEC, 0x05, 0xA8, 0x08, 0x08, 0x0A, 0x00, 0x00, 0x03, 0x00, 0x02, 0x00,
        0x00, 0x03, 0x00, 0x79, 0x1E, 0x30, 0x65, 0x40,
    ]
    static let pictureSet: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]

    /// A frame of one packet, or for a keyframe of parameter sets and slice.
    func sendFrame(isKeyframe: Bool = false, skipping: Bool = false) {
        if isKeyframe {
            var aggregate: [UInt8] = [24]
            for set in [Self.sequenceSet, Self.pictureSet] { aggregate += [0, UInt8(set.count)] + set }
            send(payload: aggregate, marker: false)
        }
        send(payload: [isKeyframe ? 0x65 : 0x41, 0x9A] + [UInt8](repeating: 0x55, count: 200), marker: true, skipping: skipping)
        timestamp &+= 3_000
    }

    /// The protected bytes of the last packet sent, for replays.
    private(set) var lastPacket: [UInt8] = []

    func send(payload: [UInt8], marker: Bool, payloadType: UInt8 = 96, ssrc: UInt32? = nil, skipping: Bool = false) {
        var writer = ByteWriter()
        writer.write(UInt8(0x80))
        writer.write((marker ? 0x80 : 0) | payloadType)
        writer.write(sequenceNumber)
        writer.write(timestamp)
        writer.write(ssrc ?? videoSSRC)
        sequenceNumber &+= 1
        guard let packet = protect(writer.bytes + payload), let remote else { return }
        lastPacket = packet
        if !skipping { sockets[active].send(packet, to: remote) }
    }

    func protect(_ packet: [UInt8]) -> [UInt8]? {
        var buffer = packet + [UInt8](repeating: 0, count: SRTPOutbound.trailerByteCount)
        guard outbound != nil, let count = try? buffer.withUnsafeMutableBytes({ try outbound!.protect($0, count: packet.count) })
        else {
            return nil
        }
        return Array(buffer[..<count])
    }

    func sendRaw(_ bytes: [UInt8], from index: Int = 0) { if let remote { sockets[index].send(bytes, to: remote) } }

    func delete(at gateway: TestGateway, token: String? = nil, from source: String = "192.0.2.1:1000", worker: Int = 0) -> Int {
        let headers: HTTPHeaders = ["Authorization": "Bearer \(token ?? self.token)"]
        return gateway.request(.delete, location, headers: headers, from: source, worker: worker).status.code
    }

    /// POST, check, DTLS.
    static func connected(
        _ token: String, to gateway: TestGateway, isPassive: Bool = false, userAgent: String = ""
    ) throws -> TestClient? {
        let client = try TestClient(token: token, isPassive: isPassive, userAgent: userAgent)
        guard client.post(to: gateway) == 201, client.connectICE(), try client.connectDTLS() else { return nil }
        return client
    }
}
