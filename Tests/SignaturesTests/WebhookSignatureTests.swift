import Signatures
import Testing
import Wire

@Suite("Signature of webhooks")
struct WebhookSignatureTests {
    private static func headers(secret: String) -> [String] {
        WebhookSignature.headers(of: Array(#"{"a":1}"#.utf8), at: 1_790_000_000, secret: Secret(secret)).map { "\($0): \($1)" }
    }

    /// Made by Python's hmac.
    @Test func `covers time and body`() {
        let code = "da8fe498621aaab99d5b11c51346b13d1a2bf2914b865b8d3edd3531cab25a3e"
        #expect(
            Self.headers(secret: "secret") == [
                "Content-Type: application/json", "Stagedoor-Signature: t=1790000000,v1=\(code)",
            ])
    }

    @Test func `is left out without a secret`() {
        #expect(Self.headers(secret: "") == ["Content-Type: application/json"])
    }
}
