import SDP
import StageHub
import Testing
import Wire

@testable import RouterForwarding

@Suite("Description for a router")
struct RouterDescriptionTests {
    @Test func `formats complete it`() throws {
        let complete = RouterDescription(
            participantID: "p1", sessionVersion: 1, address: .loopback,
            tracks: [
                .init(.video, port: 5004, ssrcs: [7], format: .h264(sps: [0x67, 0x42, 0xC0, 0x1F], pps: [0x68, 0xCE])),
                .init(.audio, port: 5006, ssrcs: [8], format: .opus(isStereo: true)),
            ], isOffer: false)
        let session = try SessionDescription(parsing: Array(complete.text.utf8))
        let video = try #require(session.media[0].formatParameters[96])
        #expect(video["profile-level-id"] == "42c01f")
        #expect(video["sprop-parameter-sets"] == "Z0LAHw==,aM4=")
        #expect(session.media[1].formatParameters[111]?["sprop-stereo"] == "1")
        #expect(session.media[1].attributes.first(RTPMap.self)?.attributeValue == "111 opus/48000/2")
    }

    @Test func `an offer names feedback, multiplexing and the key`() throws {
        var offer = RouterDescription(
            participantID: "p1", sessionVersion: 3, address: .anyV6, tracks: [.init(.video, port: 9, ssrcs: [7])],
            isOffer: true)
        offer.crypto = ("AEAD_AES_128_GCM", Secret("abcd"))
        let session = try SessionDescription(parsing: Array(offer.text.utf8))
        #expect(session.connection?.addressType == "IP6")
        let video = session.media[0]
        #expect(video.transportProtocol == "RTP/SAVPF")
        #expect(video.direction == .sendonly)
        #expect(video.attributes.contains("rtcp-mux"))
        #expect(video.feedback(of: 96).contains("nack pli"))
        #expect(video.attributes.first(CryptoAttribute.self)?.inlineKey == Secret("abcd"))
        #expect(video.attributes.first(Source.self)?.value == "p1")
    }

    @Test func `an offer with layers is what RFC 8853 shows, and one SSRC each`() throws {
        var track = RouterDescription.Track(.video, port: 9, ssrcs: [7, 8, 9])
        track.rids = [.hi, .mid, .low]
        let offer = RouterDescription(
            participantID: "p1", sessionVersion: 3, address: .loopback, tracks: [track], isOffer: true)
        let video = try SessionDescription(parsing: Array(offer.text.utf8)).media[0].attributes
        #expect(video.all(RestrictionIdentifier.self).map(\.attributeValue) == ["hi send", "mid send", "low send"])
        #expect(video.value(of: "simulcast") == "send hi;mid;low")
        #expect(video.all(Source.self).map(\.ssrc) == [7, 8, 9] && video.all(Source.self).allSatisfy { $0.value == "p1" })
        #expect(video.first(SourceGroup.self)?.attributeValue == "SIM 7 8 9")
        #expect(
            video.all(HeaderExtensionMap.self).map(\.attributeValue) == [
                "1 urn:ietf:params:rtp-hdrext:sdes:mid", "2 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id",
            ])
        #expect(video.all(RTCPFeedback.self).contains { $0.feedback == "ccm pause nowait" })
    }

    @Test func `an offer of one encoding has no word of layers`() throws {
        let offer = RouterDescription(
            participantID: "p1", sessionVersion: 3, address: .loopback, tracks: [.init(.video, port: 9, ssrcs: [7])],
            isOffer: true)
        for word in ["rid", "simulcast", "SIM", "extmap", "pause"] { #expect(!offer.text.contains(word)) }
    }
}
