import Testing
import Wire

@Suite("Secrets")
struct SecretTests {
    @Test func `never print`() {
        let secret = Secret("rt_000_x_y_z")
        #expect("\(secret)" == "‹secret›")
        #expect(String(reflecting: secret) == "‹secret›")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!dumped.contains("rt_000"))
    }
}
