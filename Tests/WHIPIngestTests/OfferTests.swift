import DTLS
import Refusals
import SDP
import TestSupport
import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

@Suite("Offer and answer (RFC 9725 §4.2)")
struct OfferTests {
    private static let addresses = [SocketAddress("192.0.2.9:3478")!, SocketAddress("[2001:db8::9]:3478")!]
    static let local = LocalDescription(
        ufrag: "AbcdefGh", password: "0123456789abcdefABCDEF+/", fingerprint: (0..<32).map { UInt8($0) },
        candidates: CandidateList.make(addresses, tcp: addresses),
        sessionID: 42)

    /// Captured offers that cannot be published, and why; every other one gets an answer.
    static let refused: [String: RefusalCode] = [
        "chromium-156.0.8078.79-audioonly": .noH264,
        "firefox-153.7.0esr-noh264": .noH264,
        "firefox-153.7.0esr-noh264-va-gathered": .noH264,
        "ffmpeg-9.0.2-copy-high": .wrongProfileOffered,
    ]

    /// What is chosen from each offer: H.264 payload type, RTX, Opus.
    static let chosen: [String: [UInt8?]] = [
        "aiortc-1.16.0": [101, 102, 96], "aiortc-1.16.0-h264-va": [101, 102, 96],
        "chromium-156.0.8078.79": [108, 109, 111], "chromium-156.0.8078.79-h264only": [108, 109, 111],
        "chromium-156.0.8078.79-simulcast": [108, 109, 111], "chromium-156.0.8078.79-videoonly": [108, 109, nil],
        "ffmpeg-9.0.2": [106, 105, 111], "ffmpeg-9.0.2-copy": [106, 105, 111],
        "firefox-153.7.0esr-openh264": [126, 127, 109], "firefox-153.7.0esr-openh264-simulcast": [126, 127, 109],
        "gst-whipsink-0.15.3-gst1.28.8": [96, nil, 111], "gst-whipclientsink-0.15.3-gst1.28.8": [96, 100, 97],
        "gst-whipclientsink-0.15.3-allcodecs": [97, 107, 100], "obs-32.2.2-ldc0.21.0": [96, nil, 111],
        "obs-32.2.2-ldc0.24.5": [96, nil, 111], "simple-whip-client-0.0git20240308-gst1.28": [96, nil, 100],
    ]

    @Test func `what is expected is expected of offers that are there`() {
        let names = Set(OfferFixture.all.map(\.name))
        #expect(names.isSuperset(of: Self.refused.keys) && names.isSuperset(of: Self.chosen.keys))
    }

    @Test(arguments: OfferFixture.all)
    func `every captured offer gets its answer or its justified refusal`(_ fixture: OfferFixture) throws {
        let offer = try SessionDescription(parsing: fixture.body, endings: .crlf)
        let result = Result { () throws(Refusal) in try AcceptedOffer(negotiating: offer) }
        switch result {
        case .failure(let refusal): #expect(Self.refused[fixture.name] == refusal.code, "\(refusal.text)")
        case .success(let accepted):
            #expect(Self.refused[fixture.name] == nil)
            let answer = try SessionDescription(parsing: Array(accepted.answer(Self.local).text.utf8), endings: .crlf)
            checkAnswer(answer, to: offer, isDTLSClient: accepted.peer.isDTLSClient)
            guard let expected = Self.chosen[fixture.name] else { return }
            #expect(
                [accepted.video.payloadType, accepted.video.retransmissionPayloadType, accepted.audio?.payloadType] == expected)
        }
    }

    /// What encoders stumble over in an answer.
    private func checkAnswer(_ answer: SessionDescription, to offer: SessionDescription, isDTLSClient: Bool) {
        #expect(answer.attributes.contains("ice-lite"))
        #expect(answer.media.map(\.media) == offer.media.map(\.media))
        #expect(answer.media.map(\.mid) == offer.media.map(\.mid))
        #expect(answer.attributes.first(MediaGroup.self)?.mids == offer.attributes.first(MediaGroup.self)?.mids)
        let firstCandidate = answer.media.flatMap { $0.attributes.all(Candidate.self) }.first
        #expect(firstCandidate?.transport == .udp && firstCandidate?.address == SocketAddress("192.0.2.9:3478"))
        #expect(answer.media.count { $0.attributes.contains("end-of-candidates") } == 1)
        for (section, offered) in zip(answer.media, offer.media) {
            #expect(section.direction == .recvonly && section.port != 0 && !section.isBundleOnly)
            #expect(section.attributes.contains("rtcp-mux") && section.attributes.contains("rtcp-mux-only"))
            #expect(Set(section.payloadTypes).isSubset(of: offered.payloadTypes))
            #expect(section.attributes.value(of: "setup") == (isDTLSClient ? "active" : "passive"))
            let offeredIDs = offered.attributes.all(HeaderExtensionMap.self)
            for map in section.attributes.all(HeaderExtensionMap.self) {
                #expect(offeredIDs.contains { $0.uri == map.uri && $0.identifier == map.identifier })
            }
            for type in section.payloadTypes where section.feedback(of: type).isEmpty == false {
                #expect(Set(section.feedback(of: type)).isSubset(of: offered.feedback(of: type)))
            }
            #expect(section.attributes.first(Simulcast.self)?.receive == offered.attributes.first(Simulcast.self)?.send)
        }
    }

    /// A machine that has IPv6 alone is reached at nothing else.
    @Test func `candidates of this machine alone come last`() {
        let (outside, loopback) = (Self.addresses[1], SocketAddress(.loopback, port: 3_478))
        let candidates = CandidateList.make([outside, loopback], tcp: [loopback, outside])
        #expect(candidates.compactMap(\.address) == [outside, loopback, outside, loopback])
        #expect(candidates.map(\.priority) == candidates.map(\.priority).sorted(by: >))
        #expect(Set(candidates.map(\.foundation)).count == 4)
    }

    /// Firefox, OBS, ffmpeg, GStreamer and aiortc know nothing of it.
    @Test(arguments: OfferFixture.all)
    func `Chromium alone is told where to begin with its bitrate`(_ fixture: OfferFixture) throws {
        guard Self.refused[fixture.name] == nil else { return }
        let accepted = try Self.accepted(fixture.name)
        let formats = accepted.answer(Self.local).media.flatMap { $0.attributes.all(FormatParameters.self) }
        let told = formats.filter { $0["x-google-start-bitrate"] == "2000" }.map(\.payloadType)
        #expect(told == (fixture.name.hasPrefix("chromium") ? [accepted.video.payloadType] : []))
    }

    @Test func `a profile is refused by the name that encoders give it`() throws {
        let offer = try SessionDescription(parsing: OfferFixture.named("ffmpeg-9.0.2-copy-high").body)
        let refusal = #expect(throws: Refusal.self) { try AcceptedOffer(negotiating: offer) }
        #expect(refusal?.sentence == "The offer has H.264 in High profile only: set the encoder's profile to baseline.")
    }

    /// packetization-mode 1 is better, but not at the price of the publish.
    @Test func `an accepted profile is chosen before one that is better packetized`() throws {
        let text = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0").body, as: UTF8.self)
        let edited = text.replacing("SAVPF 96", with: "SAVPF 96 97")
            .replacing("96 profile-level-id=42", with: "96 profile-level-id=64")
            .replacing(
                "a=rtpmap:96 H264/90000\r\n",
                with: "a=rtpmap:96 H264/90000\r\na=rtpmap:97 H264/90000\r\n"
                    + "a=fmtp:97 profile-level-id=42e01f;packetization-mode=0\r\n")
        let offer = try SessionDescription(parsing: Array(edited.utf8))
        let chosen = try AcceptedOffer(negotiating: offer).video
        #expect(chosen.payloadType == 97 && chosen.profileLevelID == "42e01f")
        // Who accepts any profile has the better packets.
        #expect(try AcceptedOffer(negotiating: offer, rules: OfferRules(acceptedProfiles: nil)).video.payloadType == 96)
    }

    @Test func `OBS's simulcast is accepted whole`() throws {
        let accepted = try Self.accepted("obs-32.2.2-ldc0.21.0-simulcast3")
        #expect(accepted.video.rids == ["0", "1", "2"])
        #expect(accepted.answer(Self.local).text.contains("a=simulcast:recv 0;1;2\r\n"))
    }

    @Test func `of more than three layers all are accepted, and the first three go on`() throws {
        let text = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0-simulcast3").body, as: UTF8.self)
        func accepted(_ count: Int) throws -> AcceptedOffer {
            let rids = (0..<count).map { "\($0)" }
            let more = rids.dropFirst(3).map { "a=rid:\($0) send\r\n" }.joined()
            let edited = text.replacing(
                "a=simulcast:send 0;1;2", with: "\(more)a=simulcast:send \(rids.joined(separator: ";"))")
            return try AcceptedOffer(negotiating: SessionDescription(parsing: Array(edited.utf8)))
        }
        let offer = try accepted(4)
        #expect(offer.video.rids == ["0", "1", "2"] && offer.video.passedOverRIDs == ["3"])
        let answer = offer.answer(Self.local).text
        #expect(answer.contains("a=simulcast:recv 0;1;2;3\r\n") && answer.contains("a=rid:3 recv\r\n"))
        let refusal = #expect(throws: Refusal.self) { try accepted(9) }
        #expect(refusal?.code == .tooManyLayers)
    }

    /// As in the first example of RFC 8853, and as browsers send layers of several codecs.
    @Test func `of a layer's alternatives the one is taken that may be H.264, of a layer without one none`() throws {
        let text = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0-simulcast3").body, as: UTF8.self)
        func accepted(_ first: String, _ second: String, _ third: String) throws -> AcceptedOffer {
            let edited = text.replacing("a=rid:0 send", with: "a=rid:0 send \(first)\r\na=rid:x send pt=96;max-fps=30")
                .replacing("a=rid:1 send", with: "a=rid:1 send \(second)")
                .replacing("a=rid:2 send", with: "a=rid:2 send \(third)")
                .replacing("a=simulcast:send 0;1;2", with: "a=simulcast:send 0,x;1;2")
            return try AcceptedOffer(negotiating: SessionDescription(parsing: Array(edited.utf8)))
        }
        let offer = try accepted("pt=97", "max-width=640;pt=97,96", "pt=98")
        #expect(offer.video.rids == ["x", "1"])
        #expect(offer.answer(Self.local).text.contains("a=simulcast:recv x;1\r\n"))
        #expect(try accepted("pt=96", "pt=97", "pt=98").video.rids == ["0"])
    }

    /// Chromium offers H.264 in many formats, and a page may choose one for each of its encodings.
    @Test func `of several formats of H.264 one is taken that layers may have`() throws {
        let text = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0-simulcast3").body, as: UTF8.self)
            .replacing("SAVPF 96", with: "SAVPF 96 102")
            .replacing("a=rtpmap:96 ", with: "a=fmtp:102 profile-level-id=42001f;packetization-mode=1\r\na=rtpmap:96 ")
            .replacing("a=rtpmap:96 ", with: "a=rtpmap:102 H264/90000\r\na=rtpmap:96 ")
        func accepted(_ layers: String...) throws -> AcceptedSection {
            let edited = layers.enumerated().reduce(text) {
                $0.replacing("a=rid:\($1.offset) send", with: "a=rid:\($1.offset) send \($1.element)")
            }
            return try AcceptedOffer(negotiating: SessionDescription(parsing: Array(edited.utf8))).video
        }
        #expect(try accepted("pt=102", "pt=102", "pt=102").payloadType == 102)
        #expect(try accepted("pt=102", "pt=102", "pt=96").payloadType == 96)
        #expect(try accepted("pt=102", "pt=102", "max-width=320").payloadType == 96)
        #expect(try accepted("pt=97", "pt=97", "pt=102").rids == ["2"])
    }

    @Test func `simulcast is refused whose layers are all of other formats, or told apart by their SSRCs alone`() throws {
        let layers = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0-simulcast3").body, as: UTF8.self)
        let plain = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0").body, as: UTF8.self)
        let offers: [(String, RefusalCode)] = [
            ((0..<3).reduce(layers) { $0.replacing("a=rid:\($1) send", with: "a=rid:\($1) send pt=97") }, .noH264),
            (plain.replacing("a=mid:1\r\n", with: "a=mid:1\r\na=ssrc-group:SIM 11 12 13\r\n"), .tooManyTracks),
        ]
        for (text, code) in offers {
            let offer = try SessionDescription(parsing: Array(text.utf8))
            let refusal = #expect(throws: Refusal.self) { try AcceptedOffer(negotiating: offer) }
            #expect(refusal?.code == code)
        }
    }

    /// None of their packets could be placed, and sound alone would be a publish.
    @Test func `layers that nothing tells apart are refused`() throws {
        let text = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0-simulcast3").body, as: UTF8.self)
        let edited = text.replacing("a=extmap:2 \(HeaderExtensionMap.rtpStreamID)\r\n", with: "")
        #expect(edited != text)
        let offer = try SessionDescription(parsing: Array(edited.utf8))
        let refusal = #expect(throws: Refusal.self) { try AcceptedOffer(negotiating: offer) }
        #expect(refusal?.code == .malformedOffer && refusal?.sentence.contains("rtp-stream-id") == true)
        // A single one needs no telling.
        let single = edited.replacing("send 0;1;2", with: "send 0")
        #expect(try AcceptedOffer(negotiating: SessionDescription(parsing: Array(single.utf8))).video.rids == ["0"])
    }

    /// No rtcp-fb, no msid, ICE and DTLS told for the session.
    @Test func `RootEncoder's offer is taken`() throws {
        let lines = [
            "v=0", "o=rtc 86400123456789 86400123456789 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 1 0",
            "a=msid-semantic:WMS *", "a=setup:actpass", "a=ice-ufrag:1x2k9v7q3m5ab", "a=ice-pwd:3hq8v1n5kd0c7rjt2m9abuep64",
            "a=ice-options:trickle", "a=fingerprint:sha-256 " + Array(repeating: "5C", count: 32).joined(separator: ":"),
            "m=video 9 UDP/TLS/RTP/SAVPF 97", "a=rtpmap:97 H264/90000",
            "a=fmtp:97 packetization-mode=1; sprop-parameter-sets=Z0LAH9oBQBboBtChNQ==,aM4G4g==; profile-level-id=42c01f",
            "a=sendonly", "a=mid:1", "a=rtcp-mux", "a=ssrc:2711490210 cname:RootEncoder",
            "m=audio 9 UDP/TLS/RTP/SAVPF 96", "a=rtpmap:96 OPUS/48000/2",
            "a=fmtp:96 sprop-stereo=1; sprop-maxcapturerate=48000", "a=sendonly", "a=mid:0", "a=rtcp-mux",
            "a=ssrc:1650031717 cname:RootEncoder",
        ]
        let text = lines.map { $0 + "\r\n" }.joined()
        let accepted = try AcceptedOffer(negotiating: try SessionDescription(parsing: Array(text.utf8), endings: .crlf))
        #expect(accepted.video.payloadType == 97 && accepted.audio?.payloadType == 96 && !accepted.peer.isDTLSClient)
    }

    @Test func `ffmpeg's passive offer makes us DTLS client`() throws {
        #expect(try Self.accepted("ffmpeg-9.0.2").peer.isDTLSClient)
        #expect(try !Self.accepted("ffmpeg-9.0.2-dtls_active").peer.isDTLSClient)
    }

    @Test func `stereo and in-band FEC of Opus are kept and the level is raised for 720p60`() throws {
        let answer = try Self.accepted("obs-32.2.2-ldc0.21.0").answer(Self.local)
        let opus = try #require(answer.media[0].formatParameters[111])
        #expect(opus["stereo"] == "1" && opus["useinbandfec"] == "1" && opus["sprop-stereo"] == nil)
        #expect(answer.media[1].formatParameters[96]?["profile-level-id"] == "42e020")
        #expect(answer.media[1].bandwidths == [Bandwidth("TIAS", 8_000_000), Bandwidth("AS", 8_200)])
    }

    @Test(
        arguments: [
            (8_500_000, 8_000_000, 8_200), (1_700_000, 1_600_000, 1_640), (34_000_000, 32_000_000, 32_800),
            (nil, 8_000_000, 8_200),
        ] as [(Int?, Int, Int)])
    func `browsers are kept below the bitrate of their stage`(_ accepted: Int?, _ allowed: Int, _ kilobits: Int) throws {
        let body = OfferFixture.named("chromium-156.0.8078.79").body
        let offer = try AcceptedOffer(
            negotiating: SessionDescription(parsing: body), rules: OfferRules(acceptedBitrate: accepted))
        #expect(offer.maximumBitrate == allowed)
        let video = try #require(offer.answer(Self.local).media.first { $0.media == "video" })
        #expect(video.bandwidths == [Bandwidth("TIAS", allowed), Bandwidth("AS", kilobits)])
    }

    /// The browser's own page of settings has no codecs: what is missing is a plugin.
    @Test func `Firefox without H.264 is told which plugin it lacks`() {
        let refusal = #expect(throws: Refusal.self) { try Self.accepted("firefox-153.7.0esr-noh264") }
        #expect(refusal?.sentence.contains("OpenH264") == true)
    }

    /// What routers and recordings are told: of the two encoders that say nothing of their Opus, what they send.
    @Test(arguments: [
        ("ffmpeg-9.0.2", true), ("aiortc-1.16.0", true), ("obs-32.2.2-ldc0.21.0", true), ("chromium-156.0.8078.79", false),
        ("gst-whipclientsink-0.15.3-gst1.28.8", false),
    ])
    func `knows who sends stereo`(_ offer: String, _ isStereo: Bool) throws {
        #expect(try Self.accepted(offer).audio?.isStereo == isStereo)
    }

    /// Edits of OBS's offer, and the refusal each earns.
    static let edits: [(String, String, RefusalCode)] = [
        ("a=sendonly", "a=recvonly", .inactiveTrack), ("a=sendonly", "a=inactive", .inactiveTrack),
        ("a=rtcp-mux\r\n", "", .noRTCPMux), ("a=group:BUNDLE 0 1\r\n", "", .notBundled),
        ("a=group:BUNDLE 0 1", "a=group:BUNDLE 0", .notBundled), ("a=group:BUNDLE 0 1", "a=group:BUNDLE 0 1 1", .malformedOffer),
        ("a=setup:actpass", "a=setup:holdconn", .unsupportedSetup), ("H264", "VP8", .noH264), ("opus", "G722", .noOpus),
        ("m=video", "m=audio", .tooManyTracks), ("m=audio", "m=application", .unsupportedSection),
        ("a=msid:gt2CsJdc9xI6ZIgU gt2CsJdc9xI6ZIgU-audio", "a=msid:other track", .tooManyStreams),
        ("UDP/TLS/RTP/SAVPF", "UDP/TLS/UDPTL", .unsupportedTransport), ("a=mid:1", "a=mid:0", .malformedOffer),
        ("a=ice-pwd:5c9KRvHSgR5Ts0kGos2q4k", "a=ice-pwd:short", .malformedOffer), ("sha-256", "sha-1", .malformedOffer),
        ("a=fingerprint:sha-256 11:", "a=fingerprint:sha-256 ", .malformedOffer), ("m=video 9", "m=video 0", .inactiveTrack),
        ("profile-level-id=42e01f", "profile-level-id=64001f", .wrongProfileOffered),
        ("a=rtpmap:96 H264/90000", "a=rtpmap:96", .malformedOffer),
        ("a=rtpmap:96 H264/90000\r\n", String(repeating: "a=rtpmap:96 H264/90000\r\n", count: 129), .malformedOffer),
    ]

    @Test(arguments: edits.indices)
    func `refuses what cannot be published whole`(_ index: Int) throws {
        let (text, replacement, code) = Self.edits[index]
        let original = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0").body, as: UTF8.self)
        let edited = original.replacing(text, with: replacement)
        #expect(edited != original)
        let offer = try SessionDescription(parsing: Array(edited.utf8))
        do throws(Refusal) {
            _ = try AcceptedOffer(negotiating: offer)
            Issue.record("accepted: \(text) → \(replacement)")
        } catch { #expect(error.code == code, "\(error.text)") }
    }

    @Test(arguments: OfferFixture.all)
    func `an offer with bytes changed is answered in lines that can be read, or refused`(_ fixture: OfferFixture) {
        var generator = SplitMix64(seed: 9)
        for _ in 0..<200 {
            var bytes = fixture.body
            for _ in 0..<4 {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0x20...0x7E, using: &generator)
            }
            guard let offer = try? SessionDescription(parsing: bytes), let accepted = try? AcceptedOffer(negotiating: offer)
            else { continue }
            let answer = try? SessionDescription(parsing: Array(accepted.answer(Self.local).text.utf8), endings: .crlf)
            #expect(answer?.media.count == offer.media.count, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }

    /// Edits that real clients' looseness makes, which must not matter.
    @Test(arguments: [
        ("a=sendonly", "a=sendrecv"), ("a=setup:actpass\r\n", ""), ("a=setup:actpass", "a=setup:active"),
        (";level-asymmetry-allowed=1", ""), ("a=msid-semantic:WMS *\r\n", ""), ("a=ice-options:ice2,trickle\r\n", ""),
        ("profile-level-id=42e01f;", ""), ("a=fingerprint:sha-256", "a=fingerprint:SHA-256"),
    ])
    func `takes what differs harmlessly`(_ text: String, _ replacement: String) throws {
        let original = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0").body, as: UTF8.self)
        let edited = original.replacing(text, with: replacement)
        #expect(edited != original)
        _ = try AcceptedOffer(negotiating: SessionDescription(parsing: Array(edited.utf8)))
    }

    @Test(arguments: [
        "UDP/TLS/RTP/SAVP", "TCP/DTLS/RTP/SAVPF", "TCP/DTLS/RTP/SAVP", "RTP/SAVPF", "RTP/SAVP", "RTP/AVPF", "RTP/AVP",
    ])
    func `each profile that is to be taken for DTLS-SRTP is repeated in the answer`(_ profile: String) throws {
        let original = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0").body, as: UTF8.self)
        let offer = try SessionDescription(parsing: Array(original.replacing("UDP/TLS/RTP/SAVPF", with: profile).utf8))
        let answer = try AcceptedOffer(negotiating: offer).answer(Self.local)
        #expect(answer.media.map(\.transportProtocol) == [profile, profile])
    }

    @Test func `of a bundle the section that its group names first tells of ICE and DTLS`() throws {
        let text = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0").body, as: UTF8.self)
        let start = try #require(text.firstRange(of: "a=setup:")).lowerBound
        let end = try #require(text.firstRange(of: "m=audio")).lowerBound
        let edited = String(text[..<start] + text[end...]).replacing("BUNDLE 0 1", with: "BUNDLE 1 0")
            .replacing("m=audio 9", with: "m=audio 0").replacing("a=mid:0\r\n", with: "a=mid:0\r\na=bundle-only\r\n")
            .replacing("a=mid:1\r\n", with: "a=mid:1\r\n\(text[start..<end])")
        let accepted = try AcceptedOffer(negotiating: SessionDescription(parsing: Array(edited.utf8)))
        let plain = try Self.accepted("obs-32.2.2-ldc0.21.0")
        #expect(accepted.peer.ufrag == plain.peer.ufrag && accepted.peer.fingerprints == plain.peer.fingerprints)
        #expect(accepted.peer.iceOptions == plain.peer.iceOptions)
        let answer = accepted.answer(Self.local)
        #expect(answer.media.map { !$0.attributes.all(Candidate.self).isEmpty } == [false, true])
    }

    /// As ffmpeg 8 offers pictures without sound: its group is always the same.
    @Test func `an m-line that only the BUNDLE group names is left out of the answer's`() throws {
        let text = String(decoding: OfferFixture.named("ffmpeg-9.0.2").body, as: UTF8.self)
        let (audio, video) = (try #require(text.firstRange(of: "m=audio")), try #require(text.firstRange(of: "m=video")))
        let edited = String(text[..<audio.lowerBound] + text[video.lowerBound...])
        let accepted = try AcceptedOffer(negotiating: SessionDescription(parsing: Array(edited.utf8)))
        let answer = accepted.answer(Self.local)
        #expect(answer.attributes.first(MediaGroup.self)?.mids == ["1"])
        #expect(answer.media.count == 1 && answer.media[0].attributes.first(Candidate.self) != nil)
    }

    static func accepted(_ name: String) throws -> AcceptedOffer {
        try AcceptedOffer(negotiating: SessionDescription(parsing: OfferFixture.named(name).body))
    }
}
