import Settings
import Testing
import Wire

@testable import WebRTCTransport

/// As coturn's `use-auth-secret` takes them.
@Suite("Credentials of TURN servers")
struct TURNCredentialsTests {
    /// Made by Python's hmac.
    @Test func `hold as long as is set, for the secret that the server knows`() {
        var settings = WHIPSettings()
        (settings.turnSecret, settings.turnLifetime) = (Secret("shared"), .seconds(7_200))
        let link = TURNCredentials.link(
            "turn:turn.example.com", settings, user: "01234567", now: WallTime(secondsSince1970: 1_790_000_000))
        #expect(
            link == "<turn:turn.example.com>; rel=\"ice-server\"; username=\"1790007200:01234567\"; "
                + "credential=\"A+reHQdIbsR0r5sJl3gYChPPPqA=\"; credential-type=\"password\"")
    }
}
