import OpenSSL
import Testing

@Suite("Keys of ES384")
struct ES384KeysTests {
    static let pem = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEngxpLeZ4i/4z8KdU6bKO3RnvywBqRyE0
        EY+6HmHWX50xxkT0hVznBXX+PIMv/pnHQkzXIP+GL+fKgfH3BKtdWFiYTq0tKeVg
        lyd4/UPoq4AfKxl4oM3+P17Xazifxg9c
        -----END PUBLIC KEY-----

        """
    /// One letter was copied as another.
    private static let miscopied = pem.replacing("fxg9c", with: "fxg9d")
    private static let otherCurve = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEqkIt4FizFCbf4WiYChg2WSlFhIk
        nfStj1BBTfqDhOzXvRS/0ledI3FFePU6G0RUOSufgm4u5ARgTfyRWWXnqg==
        -----END PUBLIC KEY-----

        """
    /// At a terminal OpenSSL would ask for the passphrase.
    private static let encrypted = pem.replacing(
        "MHYw", with: "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\nMHYw")

    @Test(arguments: [pem, "read EC key\n" + pem, pem.replacing("\n", with: "\r\n")])
    func `a public key is read, and written as OpenSSL writes it`(_ text: String) throws {
        #expect(try ES384PublicKey(pem: Array(text.utf8)).pem == Array(Self.pem.utf8))
    }

    @Test(
        arguments: [
            ("", .malformed), ("x", .malformed), (pem.replacing("MHYw", with: "AAAA"), .malformed), (encrypted, .malformed),
            (otherCurve, .wrongCurve), (miscopied, .offCurve),
        ] as [(String, ES384Error)])
    func `what is no key of P-384 is refused for what it is`(_ text: String, _ error: ES384Error) {
        #expect(throws: error) { try ES384PublicKey(pem: Array(text.utf8)) }
    }
}
