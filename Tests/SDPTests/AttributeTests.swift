import SDP
import TestSupport
import Testing
import Wire

@Suite("Typed attributes")
struct AttributeTests {
    /// Values as real offers write them: each must survive reading and writing.
    static let good: [any TypedAttributeCase] = [
        Case<RTPMap>("96 H264/90000") { $0.payloadType == 96 && $0.isEncoding("h264", clockRate: 90_000) },
        Case<RTPMap>("111 OPUS/48000/2") { $0.isEncoding("opus", clockRate: 48_000) && $0.encodingParameters == "2" },
        Case<FormatParameters>("96 profile-level-id=42e01f;packetization-mode=1") { $0["packetization-mode"] == "1" },
        Case<FormatParameters>("96 packetization-mode=1;sprop-parameter-sets=Z0LAH9oBQBbs==,aM48gA==") {
            $0["sprop-parameter-sets"] == "Z0LAH9oBQBbs==,aM48gA=="
        },
        Case<FormatParameters>("101 0-15") { $0.parameters == [.init("0-15", nil)] },
        Case<FormatParameters>("63 111/111") { $0.parameters.count == 1 },
        Case<RTCPFeedback>("96 nack pli") { $0.payloadType == 96 && $0.feedback == "nack pli" },
        Case<RTCPFeedback>("* transport-cc") { $0.payloadType == nil },
        Case<HeaderExtensionMap>("2/recvonly urn:ietf:params:rtp-hdrext:csrc-audio-level") { $0.direction == .recvonly },
        Case<HeaderExtensionMap>("4 urn:ietf:params:rtp-hdrext:sdes:mid") {
            $0.identifier == 4 && $0.uri == HeaderExtensionMap.mid
        },
        Case<Source>("2 msid:user1349723561@host-2f3e67c1 webrtctransceiver0") { $0.ssrc == 2 && $0.name == "msid" },
        Case<Source>("4105 cname:{44cef709}") { $0.value == "{44cef709}" },
        Case<SourceGroup>("FID 33391723 128458644") { $0.ssrcs == [33_391_723, 128_458_644] },
        Case<RestrictionIdentifier>("h send") { $0.identifier == "h" && $0.direction == .send },
        Case<RestrictionIdentifier>("1 send pt=97;max-width=1280") { $0.restrictions == "pt=97;max-width=1280" },
        Case<RestrictionIdentifier>("2 send max-fps=30;pt=97,98") { $0.payloadTypes == [97, 98] },
        Case<RestrictionIdentifier>("3 recv max-br=800000") { $0.payloadTypes == nil },
        // As drafts before RFC 8851 have it.
        Case<RestrictionIdentifier>("4 send pt=96 max-width=1280;max-height=720") { $0.payloadTypes == nil },
        Case<RestrictionIdentifier>("5 send pt=96, 97") { $0.payloadTypes == nil },
        Case<Simulcast>("send 0;1;2") { $0.send.count == 3 && $0.receive.isEmpty },
        Case<Simulcast>("send 1,~2;3 recv 4") { $0.send[0].alternatives[1].isPaused && $0.receive.count == 1 },
        Case<Candidate>("0 1 udp 2130706431 192.0.2.2 48840 typ host") { $0.address == SocketAddress("192.0.2.2:48840") },
        Case<Candidate>("1 1 tcp 1015021823 fe80::1 9 typ host tcptype active") { $0.tcpType == "active" },
        Case<Candidate>("3 1 udp 1 198.51.100.1 9 typ srflx raddr 192.0.2.2 rport 9 generation 0") {
            $0.extensions == "raddr 192.0.2.2 rport 9 generation 0"
        },
        Case<Candidate>("4 1 udp 1 0b1c8aa4.local 9 typ host") { $0.address == nil },
        Case<Fingerprint>("sha-256 0A:FF:00") { $0.bytes == [10, 255, 0] },
        Case<CryptoAttribute>("1 AEAD_AES_128_GCM inline:AAAA|2^20|1:4 UNENCRYPTED_SRTCP") {
            $0.inlineKey == Secret("AAAA") && $0.keyParameters == "2^20|1:4"
        },
        Case<MediaStreamIdentifier>("FFmpeg audio") { $0.stream == "FFmpeg" && $0.track == "audio" },
        Case<MediaStreamIdentifier>("-") { $0.track == nil },
        Case<MediaGroup>("BUNDLE video0 audio1") { $0.mids == ["video0", "audio1"] },
    ]

    @Test(arguments: good.indices)
    func `reads and writes back`(_ index: Int) { Self.good[index].check() }

    @Test func `takes transports and hash names in either case`() {
        #expect(Candidate(attributeValue: "1 1 UDP 1 192.0.2.1 9 typ host")?.transport == .udp)
        #expect(Fingerprint(attributeValue: "SHA-256 aB:cD")?.attributeValue == "sha-256 AB:CD")
    }

    static let bad: [(String, @Sendable (Substring) -> Bool)] = [
        ("96", { RTPMap(attributeValue: $0) == nil }), ("128 H264/90000", { RTPMap(attributeValue: $0) == nil }),
        ("96 H264", { RTPMap(attributeValue: $0) == nil }), ("96 /90000", { RTPMap(attributeValue: $0) == nil }),
        ("", { FormatParameters(attributeValue: $0) == nil }), ("x a=b", { FormatParameters(attributeValue: $0) == nil }),
        ("96 " + String(repeating: "a=b;", count: 65), { FormatParameters(attributeValue: $0) == nil }),
        ("96", { RTCPFeedback(attributeValue: $0) == nil }), ("0 u", { HeaderExtensionMap(attributeValue: $0) == nil }),
        ("1/up u", { HeaderExtensionMap(attributeValue: $0) == nil }), ("-1 cname:x", { Source(attributeValue: $0) == nil }),
        ("FID", { SourceGroup(attributeValue: $0) == nil }), ("FID a", { SourceGroup(attributeValue: $0) == nil }),
        ("h up", { RestrictionIdentifier(attributeValue: $0) == nil }),
        ("~h send", { RestrictionIdentifier(attributeValue: $0) == nil }),
        ("send", { Simulcast(attributeValue: $0) == nil }), ("send a;;b", { Simulcast(attributeValue: $0) == nil }),
        ("send a send b", { Simulcast(attributeValue: $0) == nil }),
        ("1 1 sctp 1 192.0.2.1 9 typ host", { Candidate(attributeValue: $0) == nil }),
        ("1 1 udp 1 192.0.2.1 9", { Candidate(attributeValue: $0) == nil }),
        ("sha-256", { Fingerprint(attributeValue: $0) == nil }), ("sha-256 AB:C", { Fingerprint(attributeValue: $0) == nil }),
        ("1 SUITE key", { CryptoAttribute(attributeValue: $0) == nil }),
        ("a b c", { MediaStreamIdentifier(attributeValue: $0) == nil }),
        ("", { MediaGroup(attributeValue: $0) == nil }),
    ]

    @Test(arguments: bad.indices)
    func `refuses what breaks the grammar`(_ index: Int) {
        let (text, isRefused) = Self.bad[index]
        #expect(isRefused(Substring(text)), "\(text)")
    }

    @Test func `prints no key`() {
        let attribute = CryptoAttribute(tag: 1, suite: "AEAD_AES_128_GCM", inlineKey: Secret("c2VjcmV0"))
        #expect(!"\(attribute)".contains("c2VjcmV0"))
    }

    @Test func `gives UDP hosts the priority of RFC 8445`() {
        #expect(Candidate.priority(typePreference: 126, localPreference: 65_535) == 2_130_706_431)
    }
}

protocol TypedAttributeCase: Sendable { func check() }

struct Case<Typed: TypedAttribute>: TypedAttributeCase {
    var text: String
    var holds: @Sendable (Typed) -> Bool

    init(_ text: String, _ holds: @escaping @Sendable (Typed) -> Bool) { (self.text, self.holds) = (text, holds) }

    func check() {
        guard let typed = Typed(attributeValue: Substring(text)) else {
            Issue.record("not read: \(text)")
            return
        }
        #expect(typed.attributeValue == text)
        #expect(holds(typed), "\(text)")
    }
}
