import Admission
import SDP
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

    @Test func `a description exists before any media`() throws {
        let router = StaticRouter(.init()) { _, _ in }
        let text = try #require(router.reserve(for: "arn", ParticipantKey("p1", onStage: "s")))
        let early = try SessionDescription(parsing: Array(text.utf8))
        #expect(early.media.map(\.port) == [5004, 5006])
        #expect(early.media[0].formatParameters(of: 96)?["packetization-mode"] == "1")
        #expect(!early.media[0].attributes.contains("ssrc"))
    }

    @Test func `equal participant ids on two stages have ports and descriptions of their own`() throws {
        let (one, other) = (ParticipantKey("p", onStage: "s1"), ParticipantKey("p", onStage: "s2"))
        var pairs = PortPairs(5004...5015)
        #expect(pairs.assign(to: one.name) != pairs.assign(to: other.name))
        let files = DescriptionFiles(directory: "/d")
        #expect(files.path(of: one) == "/d/s1/p.sdp")
        #expect(files.path(of: other) == "/d/s2/p.sdp")
    }
}
