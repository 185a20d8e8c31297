import Testing

@testable import WHIPIngest

@Suite("Offer settings")
struct OfferSettingsTests {
    private static func digest(ufrag: String = "abcd", profile: String = "42e01f") -> String {
        let lines = [
            "v=0", "a=ice-ufrag:\(ufrag)", "m=video \(ufrag.utf8.count) UDP/TLS/RTP/SAVPF 96", "a=sendonly",
            "a=rtpmap:96 H264/90000",
            "a=fmtp:96 profile-level-id=\(profile)", "a=ssrc:\(ufrag.count) cname:x",
        ]
        return OfferSettings.digest(of: Array(lines.joined(separator: "\r\n").utf8))
    }

    @Test
    func `the next attempt with the same settings has the same digest`() {
        #expect(Self.digest(ufrag: "abcd") == Self.digest(ufrag: "other"))
    }

    @Test
    func `another profile has another digest`() {
        #expect(Self.digest(profile: "42e01f") != Self.digest(profile: "640c1f"))
    }
}
