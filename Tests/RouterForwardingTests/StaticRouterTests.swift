import Foundation
import Glibc
import Admission
import SDP
import StageHub
import Testing
import Wire

@testable import RouterForwarding

@Suite("Static driver")
struct StaticRouterTests {
    @Test func `gives the lowest free pair of even ports, and the same again`() {
        var pairs = PortPairs(5003...5015)
        #expect(pairs.assign(to: "a")?.video == 5004)
        #expect(pairs.assign(to: "b")?.audio == 5010)
        #expect(pairs.assign(to: "a")?.audio == 5006)
        #expect(pairs.assign(to: "c")?.video == 5012)
        #expect(pairs.assign(to: "d") == nil)
        pairs.release("a")
        #expect(pairs.assign(to: "d")?.video == 5004)
    }

    @Test(arguments: [5004...5005, 65_534...65_535] as [ClosedRange<UInt16>])
    func `a range too small gives nothing`(_ range: ClosedRange<UInt16>) {
        var pairs = PortPairs(range)
        #expect(pairs.assign(to: "a") == nil)
    }

    @Test func `a description exists before any media, and is completed by the format`() throws {
        let router = StaticRouter(.init()) { _, _ in }
        let text = try #require(router.reserve(for: "arn", ParticipantKey("p1", onStage: "s")))
        let early = try SessionDescription(parsing: Array(text.utf8))
        #expect(early.media.map(\.port) == [5004, 5006])
        #expect(early.media[0].formatParameters(of: 96)?["packetization-mode"] == "1")
        #expect(!early.media[0].attributes.contains("ssrc"))

        let complete = RouterDescription(
            participantID: "p1", sessionVersion: 1, address: .loopback,
            tracks: [
                .init(track: .video, port: 5004, ssrc: 7, format: .h264(sps: [0x67, 0x42, 0xC0, 0x1F], pps: [0x68, 0xCE])),
                .init(track: .audio, port: 5006, ssrc: 8, format: .opus(isStereo: true)),
            ], isOffer: false)
        let session = try SessionDescription(parsing: Array(complete.text.utf8))
        let video = try #require(session.media[0].formatParameters(of: 96))
        #expect(video["profile-level-id"] == "42c01f")
        #expect(video["sprop-parameter-sets"] == "Z0LAHw==,aM4=")
        #expect(session.media[1].formatParameters(of: 111)?["sprop-stereo"] == "1")
        #expect(session.media[1].attributes.first(RTPMap.self)?.attributeValue == "111 opus/48000/2")
    }

    @Test func `equal participant ids on two stages have ports and descriptions of their own`() throws {
        let (one, other) = (ParticipantKey("p", onStage: "s1"), ParticipantKey("p", onStage: "s2"))
        var pairs = PortPairs(5004...5015)
        #expect(pairs.assign(to: one.name) != pairs.assign(to: other.name))
        let files = DescriptionFiles(directory: "/d")
        #expect(files.path(of: one) == "/d/s1/p.sdp")
        #expect(files.path(of: other) == "/d/s2/p.sdp")
    }

    @Test func `an offer names feedback, multiplexing and the key`() throws {
        var offer = RouterDescription(
            participantID: "p1", sessionVersion: 3, address: .anyV6, tracks: [.init(track: .video, port: 9, ssrc: 7)],
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

    @Test func `files are private, only participants have one, and the first stage has the short name`() throws {
        var template = Array("/tmp/sdp-XXXXXX".utf8CString)
        let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let files = DescriptionFiles(directory: directory)
        // As an earlier version left it.
        try "old".write(toFile: "\(directory)/p-1.sdp", atomically: false, encoding: .utf8)
        for stage in ["s1", "s2"] { #expect(files.write(stage, for: ParticipantKey("p-1", onStage: stage))) }
        var status = stat()
        #expect(stat("\(directory)/s1/p-1.sdp", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let short = try #require(files.path(ofFirst: "p-1"))
        #expect(short == "\(directory)/p-1.sdp")
        #expect(try String(contentsOfFile: short, encoding: .utf8) == "s1")
        for name in ["", "..", "a/b", String(repeating: "a", count: 65)] {
            #expect(!files.write("", for: ParticipantKey(name, onStage: "s1")))
            #expect(!files.write("", for: ParticipantKey("p", onStage: name)))
            #expect(files.path(ofFirst: name) == nil)
        }
    }
}
