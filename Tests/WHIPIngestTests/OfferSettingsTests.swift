import Testing

@testable import WHIPIngest

@Suite("Offer settings")
struct OfferSettingsTests {
    private static let obs = "Mozilla/5.0 (OBS-Studio/32.2.2; Linux x86_64; en-US)"

    private static func digest(
        ufrag: String = "abcd", profile: String = "42e01f", source: Int = 7, by userAgent: String = "Lavf/63.1.102"
    ) -> String {
        let lines = [
            "v=0", "a=ice-ufrag:\(ufrag)", "m=video \(ufrag.utf8.count) UDP/TLS/RTP/SAVPF 96", "a=sendonly",
            "a=rtpmap:96 H264/90000",
            "a=fmtp:96 profile-level-id=\(profile)", "a=ssrc:\(source) cname:\(ufrag)",
        ]
        return OfferSettings.digest(of: Array(lines.joined(separator: "\r\n").utf8), by: userAgent)
    }

    @Test
    func `the next attempt with the same settings has the same digest`() {
        #expect(Self.digest(ufrag: "abcd") == Self.digest(ufrag: "other", source: 8))
        #expect(Self.digest(ufrag: "abcd", by: Self.obs) == Self.digest(ufrag: "other", by: Self.obs))
    }

    /// Its offers show nothing else of what is set on its page "Output".
    @Test
    func `OBS with an output made anew, as for each change of its settings, has another digest`() {
        #expect(Self.digest(by: Self.obs) != Self.digest(source: 8, by: Self.obs))
    }

    @Test
    func `another profile has another digest`() {
        #expect(Self.digest(profile: "42e01f") != Self.digest(profile: "640c1f"))
    }
}
