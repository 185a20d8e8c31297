import SRTP
import StageHub
import Testing
import Wire

@testable import RouterForwarding

@Suite("Answers of routers")
struct RouterAnswerTests {
    private static func answer(_ change: (inout String) -> Void = { _ in }) -> String {
        var text =
            [
                "v=0", "o=- 1 1 IN IP4 10.1.0.9", "s=-", "c=IN IP4 10.1.0.9", "t=0 0", "m=video 6000 RTP/AVPF 96", "a=recvonly",
                "a=rtcp-mux", "a=rtpmap:96 H264/90000", "a=rtcp-fb:96 nack", "a=rtcp-fb:96 nack pli", "m=audio 6002 RTP/AVPF 111",
                "a=recvonly", "a=rtpmap:111 opus/48000/2",
            ].joined(separator: "\r\n") + "\r\n"
        change(&text)
        return text
    }

    private func parse(_ sdp: String, isProtected: Bool = false) throws(AnnounceFailure) -> RouterAnswer {
        try RouterAnswer(sdp, offered: [.video, .audio], isProtected: isProtected, trust: RouterTrustTests.trust)
    }

    @Test func `reads addresses, RTCP ports and kept feedback`() throws {
        let answer = try parse(Self.answer())
        let router = IPAddress("10.1.0.9")!
        #expect(
            answer.tracks == [
                .init(
                    rtp: SocketAddress(router, port: 6000), rtcp: SocketAddress(router, port: 6000), isNACKed: true),
                .init(
                    rtp: SocketAddress(router, port: 6002), rtcp: SocketAddress(router, port: 6003), isNACKed: false),
            ])
    }

    @Test func `a rejected track is left out, all of them are a failure`() throws {
        let one = try parse(Self.answer { $0.replace("m=audio 6002", with: "m=audio 0") })
        #expect(one.tracks[1] == nil)
        #expect(throws: AnnounceFailure.self) {
            try parse(
                Self.answer {
                    $0.replace("m=audio 6002", with: "m=audio 0"); $0.replace("m=video 6000", with: "m=video 0")
                })
        }
    }

    @Test(arguments: [
        ("c=IN IP4 10.1.0.9", "c=IN IP4 192.0.2.1"), ("c=IN IP4 10.1.0.9", "c=IN IP4 router.example"),
        ("c=IN IP4 10.1.0.9\r\n", ""), ("RTP/AVPF 96", "RTP/AVPF 97"),
        ("m=audio 6002 RTP/AVPF 111", "m=audio 65535 RTP/AVPF 111"),
        ("m=audio", "m=video"), ("v=0", "v=1"),
    ])
    func `refuses an answer with`(_ old: String, _ new: String) {
        #expect(throws: AnnounceFailure.self) { try parse(Self.answer { $0.replace(old, with: new) }) }
    }

    @Test func `a protected offer needs a key in the answer`() throws {
        #expect(throws: AnnounceFailure.self) { try parse(Self.answer(), isProtected: true) }
        let key = Base64.standard.text(of: Array(repeating: 7, count: 30))
        let crypto = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(key)\r\n"
        let text = Self.answer {
            $0.replace("RTP/AVPF", with: "RTP/SAVPF")
            $0.replace("a=rtcp-mux\r\n", with: "a=rtcp-mux\r\n" + crypto)
            $0 += crypto
        }
        #expect(try parse(text, isProtected: true).feedbackKeys?.profile == .aes128CMSHA1_80)
        #expect(throws: AnnounceFailure.self) {
            try parse(text.replacing("inline:", with: "inline:AAAA"), isProtected: true)
        }
    }

    // MARK: Layers

    private func layers(_ lines: [String]) throws(AnnounceFailure) -> RouterAnswer.Track? {
        let text = Self.answer {
            $0.replace("a=rtcp-fb:96 nack\r\n", with: (lines + ["a=rtcp-fb:96 nack\r\n"]).joined(separator: "\r\n"))
        }
        let answer = try RouterAnswer(
            text, offered: [.video, .audio], layers: [.hi, .mid, .low], isProtected: false, trust: RouterTrustTests.trust)
        return answer.tracks[0]
    }

    /// The forms of RFC 8853's examples, and what no honest router says.
    @Test(
        arguments: [
            (["a=rid:hi recv", "a=rid:mid recv", "a=rid:low recv", "a=simulcast:recv hi;mid;low"], "hi mid low"),
            (["a=simulcast:recv hi;~mid;low"], "hi ~mid low"), (["a=simulcast:recv ~low;hi"], "~low hi"),
            (["a=simulcast:recv hi,mid;low"], "hi low"), (["a=simulcast:recv mid"], "mid"),
            (["a=simulcast:send hi;mid recv low"], "low"), ([], ""), (["a=simulcast:send hi;mid;low"], ""),
            (["a=simulcast:recv 1;2;hi;no-rid"], "hi"), (["a=simulcast:recv hi;hi;~hi"], "hi"),
            (["a=simulcast:recv hi;;low"], ""), (["a=simulcast"], ""),
            (["a=simulcast:recv " + String(repeating: "hi;", count: 100) + "low"], ""),
        ] as [([String], String)])
    func `takes the layers that were offered and no others`(_ lines: [String], _ expected: String) throws {
        let taken = try #require(try layers(lines)).layers
        #expect(taken.map { ($0.isPaused ? "~" : "") + $0.rid.rawValue }.joined(separator: " ") == expected)
    }

    @Test func `a router that was offered none takes none`() throws {
        let answer = try parse(Self.answer { $0.replace("a=recvonly", with: "a=simulcast:recv hi;low\r\na=recvonly") })
        #expect(answer.tracks[0]?.layers == [])
    }

    @Test func `header extensions are written under the offer's identifiers alone`() throws {
        let (mid, rid) = ("urn:ietf:params:rtp-hdrext:sdes:mid", "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id")
        let both = try #require(try layers(["a=extmap:1 \(mid)", "a=extmap:2 \(rid)"]))
        #expect(both.takesMID && both.takesRID)
        let other = try #require(try layers(["a=extmap:2 \(mid)", "a=extmap:3 \(rid)"]))
        #expect(!other.takesMID && !other.takesRID)
    }
}
