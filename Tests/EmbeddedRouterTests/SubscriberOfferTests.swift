import Admission
import Refusals
import SDP
import STUN
import StageHub
import TestSupport
import Testing
import Wire

@testable import EmbeddedRouter
@testable import WebRTCTransport

@Suite("Subscriber's offer")
struct SubscriberOfferTests {
    static let sources = SubscriberSources(video: 11, retransmission: 12, audio: 13)
    static let local = LocalDescription(
        ufrag: "ufrag", password: "password", fingerprint: Array(repeating: 7, count: 32),
        candidates: CandidateList.make([SocketAddress(.loopback, port: 3_478)], tcp: []), sessionID: 1)

    /// A captured offer turned round: what sent receives.
    static func turned(_ name: String, _ change: (String) -> String = { $0 }) throws -> SessionDescription {
        let text = String(decoding: OfferFixture.named(name).body, as: UTF8.self).replacing("a=sendonly", with: "a=recvonly")
        return try SessionDescription(parsing: Array(change(text).utf8), endings: .crlf)
    }

    @Test(arguments: ["aiortc-1.16.0", "chromium-156.0.8078.79", "firefox-153.7.0esr-openh264"])
    func `is answered with our sources, its payload types and RTX`(_ name: String) throws {
        let offer = try Self.turned(name)
        let accepted = try SubscriberOffer(negotiating: offer)
        let key = ParticipantKey("alice", onStage: "s")
        let text = accepted.answer(Self.local, Self.sources, watched: key).text
        let answer = try SessionDescription(parsing: Array(text.utf8), endings: .crlf)
        #expect(answer.media.map(\.media) == offer.media.map(\.media))
        #expect(answer.media.allSatisfy { $0.direction == .sendonly })
        #expect(answer.media.allSatisfy { $0.attributes.contains("rtcp-mux") && $0.attributes.contains("rtcp-mux-only") })
        let video = try #require(answer.media.first { $0.media == "video" })
        let offered = try #require(offer.media.first { $0.media == "video" })
        #expect(Set(video.payloadTypes).isSubset(of: offered.payloadTypes) && video.payloadTypes.count == 2)
        #expect(offered.formatParameters[video.payloadTypes[0]]?["packetization-mode"] == "1")
        #expect(video.formatParameters[video.payloadTypes[1]]?["apt"] == "\(video.payloadTypes[0])")
        #expect(video.attributes.all(SourceGroup.self).map(\.ssrcs) == [[11, 12]])
        #expect(video.feedback(of: video.payloadTypes[0]).contains("nack pli"))
        #expect(answer.media.allSatisfy { $0.attributes.first(MediaStreamIdentifier.self)?.stream == "alice" })
    }

    @Test func `feedback of each packet is answered where video can be sent again, and nowhere else`() throws {
        func answer(_ change: (String) -> String) throws -> String {
            let accepted = try SubscriberOffer(negotiating: try Self.turned("chromium-156.0.8078.79", change))
            return accepted.answer(Self.local, Self.sources, watched: ParticipantKey("alice", onStage: "s")).text
        }
        let full = try answer { $0 }
        #expect(full.contains("transport-cc") && full.contains(HeaderExtensionMap.transportWideCC) && full.contains("goog-remb"))
        let withoutRTX = try answer { $0.replacing("rtx/90000", with: "red/90000") }
        #expect(!withoutRTX.contains("transport-cc") && !withoutRTX.contains(HeaderExtensionMap.transportWideCC))
    }

    /// As GStreamer's whepclientsrc offers it.
    @Test func `H.264 without a packetization mode is taken where there is none in mode 1`() throws {
        let video = try Self.video(of: "gst-whipclientsink-0.15.3-gst1.28.8") {
            $0.replacing("packetization-mode=1;", with: "").replacing(";level-asymmetry-allowed=1", with: "")
        }
        #expect(video.map.payloadType == 96 && video.retransmissionPayloadType == 100)
        #expect(video.parameters?.attributeValue == "96 profile-level-id=42c01f")
        // Constrained Baseline is left without a mode, and Baseline with one.
        let firefox = try Self.video(of: "firefox-153.7.0esr-openh264") { $0.replacing("126 H264/", with: "126 VP8/") }
        #expect(firefox.map.payloadType == 105)
        #expect(throws: Refusal.self) {
            try Self.video(of: "gst-whipclientsink-0.15.3-gst1.28.8") { $0.replacing("mode=1", with: "mode=0") }
        }
    }

    private static func video(of name: String, _ change: (String) -> String) throws -> SubscriberSection {
        let offer = try SubscriberOffer(negotiating: try turned(name, change))
        return try #require(offer.section(.video))
    }

    private static let maps = String(repeating: "a=rtpmap:96 H264/90000\r\n", count: 129)

    @Test(arguments: [
        ("a=recvonly", "a=inactive", RefusalCode.nothingReceived), ("a=recvonly", "a=sendonly", .nothingReceived),
        ("H264/90000", "H265/90000", .noH264), ("opus/48000/2", "PCMU/8000", .noOpus), ("a=rtcp-mux\r\n", "", .noRTCPMux),
        ("m=video", "m=text", .unsupportedSection), ("m=audio", "m=video", .tooManyTracks),
        ("a=rtcp-mux\r\n", "a=rtcp-mux\r\n" + maps, .malformedOffer),
    ])
    func `is refused in words when we cannot send to it`(_ item: (String, String, RefusalCode)) throws {
        let offer = try Self.turned("aiortc-1.16.0") { $0.replacing(item.0, with: item.1) }
        let refusal = #expect(throws: Refusal.self) { try SubscriberOffer(negotiating: offer) }
        #expect(refusal?.code == item.2)
    }

    /// The watch page shows the sentence to somebody who knows nothing of offers.
    @Test func `Firefox without H.264 is told which plugin it lacks`() throws {
        let offer = try Self.turned("firefox-153.7.0esr-noh264")
        let refusal = #expect(throws: Refusal.self) { try SubscriberOffer(negotiating: offer) }
        #expect(refusal?.code == .noH264 && refusal?.sentence.contains("OpenH264") == true)
    }
}
