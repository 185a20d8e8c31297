import DTLS
import SDP
import Wire

/// What one publisher offers: the sections, formats and sources that OBS 32 offers, for a connection of its own. A viewer's has
/// the same sections, and no sources.
struct WHIPOffer {
    enum Direction: String { case sendonly, recvonly }

    static let videoPayloadType: UInt8 = 96
    static let audioPayloadType: UInt8 = 111
    /// Identifiers of the header extensions that tell layers apart, as OBS numbers them, and what the first one says.
    static let midID: UInt8 = 1
    static let ridID: UInt8 = 2
    static let videoMid = UInt8(ascii: "1")

    let certificate: DTLSCertificate
    /// Six hexadecimal digits (RFC 6184 §8.1); the media that follows may have another one.
    var profileLevelID = "42e01f"
    /// More than one are simulcast.
    var layerCount = 1
    var direction = Direction.sendonly
    let audioSSRC = UInt32.random(in: 1...UInt32.max >> 1)
    /// 47 and 142 random bits; RFC 8445 §5.3 asks for 24 and 128.
    let ufrag = letters(8)
    let password = letters(24)
    let cname = letters(16)

    /// Each layer's; the offer names the first one's, as OBS' does.
    func videoSSRC(ofLayer layer: Int) -> UInt32 { audioSSRC + 1 + UInt32(layer) }

    /// What tells a layer's packets apart; nil without layers.
    func rid(ofLayer layer: Int) -> UInt8? { layerCount > 1 ? UInt8(ascii: "0") + UInt8(layer) : nil }

    var text: String {
        let fingerprint = Fingerprint(hashFunction: "sha-256", bytes: certificate.fingerprint).attributeValue
        return """
            v=0
            o=rtc \(UInt32.random(in: 1...UInt32.max)) 0 IN IP4 127.0.0.1
            s=-
            t=0 0
            a=group:BUNDLE 0 1
            a=group:LS 0 1
            a=msid-semantic:WMS *
            a=ice-options:ice2,trickle
            a=fingerprint:\(fingerprint)
            m=audio 9 UDP/TLS/RTP/SAVPF \(Self.audioPayloadType)
            \(section(mid: 0, ssrc: audioSSRC))
            a=rtpmap:\(Self.audioPayloadType) opus/48000/2
            a=fmtp:\(Self.audioPayloadType) minptime=10;maxaveragebitrate=96000;stereo=1;sprop-stereo=1;useinbandfec=1
            m=video 9 UDP/TLS/RTP/SAVPF \(Self.videoPayloadType)
            \(section(mid: 1, ssrc: videoSSRC(ofLayer: 0)))
            a=rtpmap:\(Self.videoPayloadType) H264/90000
            a=rtcp-fb:\(Self.videoPayloadType) nack
            a=rtcp-fb:\(Self.videoPayloadType) nack pli
            a=fmtp:\(Self.videoPayloadType) profile-level-id=\(profileLevelID);packetization-mode=1;level-asymmetry-allowed=1
            \(simulcast)
            """.replacing("\n", with: "\r\n")
    }

    /// RFC 8853, RFC 8852.
    private var simulcast: String {
        guard layerCount > 1 else { return "" }
        let rids = (0..<layerCount).map { "\($0)" }
        return """
            a=extmap:\(Self.midID) urn:ietf:params:rtp-hdrext:sdes:mid
            a=extmap:\(Self.ridID) urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
            \(rids.map { "a=rid:\($0) send" }.joined(separator: "\n"))
            a=simulcast:send \(rids.joined(separator: ";"))

            """
    }

    private func section(mid: Int, ssrc: UInt32) -> String {
        """
        c=IN IP4 0.0.0.0
        a=mid:\(mid)
        a=\(direction)
        \(direction == .sendonly ? source(ssrc, mid) : "")a=rtcp-mux
        a=setup:actpass
        a=ice-ufrag:\(ufrag)
        a=ice-pwd:\(password)
        """
    }

    private func source(_ ssrc: UInt32, _ mid: Int) -> String {
        "a=ssrc:\(ssrc) cname:\(cname)\na=msid:\(cname) \(cname)-\(mid)\n"
    }

    private static func letters(_ count: Int) -> String {
        String((0..<count).map { _ in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".randomElement() ?? "a" })
    }
}

/// What a publisher needs of a WHIP server's answer.
struct WHIPServerDescription {
    /// UDP candidates of one address family, in the answer's order; IPv4 where there are any.
    let candidates: [SocketAddress]
    let ufrag: String
    let password: [UInt8]
    let fingerprints: [CertificateFingerprint]
    /// The server opens the DTLS connection.
    let isServerActive: Bool

    var isV4: Bool { candidates[0].ip.isV4 }

    /// A real answer has up to a dozen.
    static let maximumCandidates = 16

    /// Nil when the answer lacks what a connection needs; attributes of the session level count for every section.
    init?(parsing body: [UInt8]) {
        guard let answer = try? SessionDescription(parsing: body), let section = answer.media.first else { return nil }
        let attributes = section.attributes + answer.attributes
        guard let ufrag = attributes.value(of: "ice-ufrag"), let password = attributes.value(of: "ice-pwd") else { return nil }
        let addresses = answer.media.flatMap { $0.attributes.all(Candidate.self) }
            .filter { $0.transport == .udp && $0.component == 1 }.compactMap(\.address)
        let preferred = addresses.filter(\.ip.isV4)
        candidates = Array((preferred.isEmpty ? addresses : preferred).prefix(Self.maximumCandidates))
        (self.ufrag, self.password) = (ufrag, Array(password.utf8))
        fingerprints = attributes.all(Fingerprint.self).map {
            CertificateFingerprint(hash: $0.hashFunction, bytes: $0.bytes)
        }
        isServerActive = attributes.value(of: "setup") == SetupRole.active.rawValue
        guard !candidates.isEmpty, !fingerprints.isEmpty else { return nil }
    }
}
