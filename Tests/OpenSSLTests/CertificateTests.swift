import OpenSSL
import Testing
import Wire

@Suite("Certificates")
struct CertificateTests {
    static let now = WallTime(secondsSince1970: 1_800_000_000)

    @Test func `an authority signs leaves, and only its own`() throws {
        let authority = try Identity.makeAuthority(commonName: "Stagedoor test CA", now: Self.now, validFor: .seconds(86_400))
        let other = try Identity.makeAuthority(commonName: "Another CA", now: Self.now, validFor: .seconds(86_400))
        let leaf = try authority.issue(
            commonName: "localhost", dnsNames: ["localhost"], addresses: [.loopback], now: Self.now, validFor: .seconds(3_600))
        #expect(leaf.certificate.isSigned(by: authority.key))
        #expect(!leaf.certificate.isSigned(by: other.key))
        #expect(leaf.certificate.notAfter == Self.now + .seconds(3_600))
        #expect(leaf.certificate.notBefore == Self.now + .seconds(-3_600), "clocks of peers may be behind")
        #expect(leaf.certificate.subject == "/CN=localhost")
    }

    @Test func `certificate and key survive PEM`() throws {
        let identity = try Identity.makeAuthority(commonName: "stagedoor", now: Self.now, validFor: .seconds(86_400 * 30))
        let pem = try identity.certificate.pem()
        let copy = try Identity(chainPEM: pem, keyPEM: try identity.key.pem())
        #expect(copy.certificate.sha256Fingerprint == identity.certificate.sha256Fingerprint)
        #expect(copy.certificate.isSigned(by: copy.key))
        #expect(try Certificate.chain(pem: pem + pem).count == 2)
        #expect(throws: Never.self) { try TLSContext(server: copy) }
    }

    @Test(arguments: ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `text that is no certificate is refused`(text: String) {
        #expect(throws: OpenSSLError.self) { try Certificate(pem: Array(text.utf8)) }
        #expect(throws: OpenSSLError.self) { try PrivateKey(pem: Array(text.utf8)) }
    }

    @Test func `an encrypted key is refused without asking anybody`() {
        let pem = """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhXQzpEfnxg1QICCAAw
            -----END ENCRYPTED PRIVATE KEY-----
            """
        #expect(throws: OpenSSLError.self) { try PrivateKey(pem: Array(pem.utf8)) }
    }

    /// As a client that verifies the name sees it.
    @Test(arguments: [("ok.example", true), ("good.example", false), ("evil.example", false), ("::1", true)])
    func `a name cannot smuggle other names into the certificate`(_ name: String, _ isCarried: Bool) throws {
        let authority = try #require(TLSConnectionTests.authority)
        let leaf = try authority.issue(
            commonName: "x", dnsNames: ["good.example,DNS:evil.example", "ok.example"],
            addresses: [.v6(high: 0, low: 1, scope: 2)], now: TLSConnectionTests.now, validFor: .seconds(3_600))
        let link = try TLSConnectionTests.Link(
            client: TLSConnectionTests.trusting(), server: TLSContext(server: leaf), name: name)
        try? link.run()
        #expect(link.client.isHandshakeCompleted == isCarried)
    }

    @Test func `a chain has sixteen certificates at most, and its text a mebibyte`() throws {
        let pem = try Identity.makeAuthority(commonName: "CA", now: Self.now, validFor: .seconds(60)).certificate.pem()
        let chain = (0..<16).flatMap { _ in pem }
        #expect(try Certificate.chain(pem: chain).count == 16)
        #expect(throws: OpenSSLError.self) { try Certificate.chain(pem: chain + pem) }
        let padded = pem + [UInt8](repeating: 0x0A, count: (1 << 20) - pem.count)
        #expect(try Certificate.chain(pem: padded).count == 1)
        #expect(throws: OpenSSLError.self) { try Certificate.chain(pem: padded + [0x0A]) }
    }

    @Test func `a key that does not belong to the certificate is refused`() throws {
        let one = try Identity.makeAuthority(commonName: "stagedoor", now: Self.now, validFor: .seconds(60))
        let other = try Identity.makeAuthority(commonName: "stagedoor", now: Self.now, validFor: .seconds(60))
        #expect(throws: OpenSSLError.self) { try TLSContext(server: Identity(certificate: one.certificate, key: other.key)) }
    }
}
