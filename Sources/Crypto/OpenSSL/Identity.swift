public import Wire

/// A certificate with its private key and its issuers: what a server shows.
public struct Identity: Sendable {
    public let certificate: Certificate
    /// Issuers, the nearest first; without the root.
    public let chain: [Certificate]
    public let key: PrivateKey

    public init(certificate: Certificate, chain: [Certificate] = [], key: PrivateKey) {
        (self.certificate, self.chain, self.key) = (certificate, chain, key)
    }

    /// Whether each certificate is signed by the one behind it, as peers expect a chain to be (RFC 8446 §4.4.2).
    public var isChainInOrder: Bool {
        zip([certificate] + chain, chain).allSatisfy { certificate, issuer in certificate.isSigned(by: issuer) }
    }

    /// Reads a chain and its key, each as PEM. That they belong together is checked by `TLSContext`.
    public init(chainPEM: [UInt8], keyPEM: Secret) throws(OpenSSLError) {
        var chain = try Certificate.chain(pem: chainPEM)
        let leaf = chain.removeFirst()  // `chain` throws where there is none
        self.init(certificate: leaf, chain: chain, key: try PrivateKey(pem: keyPEM.reveal()))
    }

    /// A P-256 certificate that vouches for itself: DTLS, where the fingerprint is what counts (RFC 8827 §6.5).
    public static func makeSelfSigned(
        commonName: String = "stagedoor", now: WallTime, validFor: Duration
    ) throws(OpenSSLError) -> Identity {
        let key = try PrivateKey.makeP256()
        let request = CertificateRequest(commonName: commonName, kind: .selfSigned, notAfter: now + validFor, now: now)
        return Identity(certificate: try request.sign(subjectKey: key, issuer: nil), key: key)
    }

    /// An authority of our own, for quickstart and tests.
    public static func makeAuthority(commonName: String, now: WallTime, validFor: Duration) throws(OpenSSLError) -> Identity {
        let key = try PrivateKey.makeP256()
        let request = CertificateRequest(commonName: commonName, kind: .authority, notAfter: now + validFor, now: now)
        return Identity(certificate: try request.sign(subjectKey: key, issuer: nil), key: key)
    }

    /// A server's certificate for those names and addresses, signed by this authority.
    public func issue(
        commonName: String, dnsNames: [String], addresses: [IPAddress], now: WallTime, validFor: Duration
    ) throws(OpenSSLError) -> Identity {
        let leaf = try PrivateKey.makeP256()
        let request = CertificateRequest(
            commonName: commonName, kind: .server(dnsNames: dnsNames, addresses: addresses), notAfter: now + validFor, now: now)
        return Identity(certificate: try request.sign(subjectKey: leaf, issuer: self), key: leaf)
    }
}
