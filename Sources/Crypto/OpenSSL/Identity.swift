import COpenSSL
public import Wire

/// A certificate with its private key and its issuers: what a server shows.
///
///     let authority = try Identity.makeAuthority(commonName: "Stagedoor", now: now, validFor: .seconds(86_400))
///     let server = try authority.issue(
///         commonName: "localhost", dnsNames: ["localhost"], addresses: [.loopback], now: now, validFor: .seconds(86_400))
public struct Identity: Sendable {
    /// Its own.
    public let certificate: Certificate
    /// Issuers, the nearest first; without the root.
    public let chain: [Certificate]
    /// Of the certificate.
    public let key: PrivateKey

    /// From its parts, unchecked: `TLSContext` refuses a key that does not fit.
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

    /// An authority of our own, for quickstart and tests.
    public static func makeAuthority(commonName: String, now: WallTime, validFor: Duration) throws(OpenSSLError) -> Identity {
        try makeAuthority(commonName: commonName, key: PrivateKey.makeP256(), now: now, validFor: validFor)
    }

    /// The same of a key that is there: who trusts one authority of a name and a key takes what another one of both signs.
    public static func makeAuthority(
        commonName: String, key: PrivateKey, now: WallTime, validFor: Duration
    ) throws(OpenSSLError) -> Identity {
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

/// What a new certificate shall say (RFC 5280 §4).
private struct CertificateRequest {
    enum Kind {
        case authority
        case server(dnsNames: [String], addresses: [IPAddress])
    }

    var commonName: String
    var kind: Kind
    var notAfter: WallTime
    var now: WallTime

    /// Clocks of peers may be behind ours.
    static let backdating = Duration.seconds(-3_600)

    /// Signs it with the issuer's key, or its own.
    func sign(subjectKey: PrivateKey, issuer: Identity?) throws(OpenSSLError) -> Certificate {
        ERR_clear_error()
        let certificate = unsafe Certificate(owning: try OpenSSLError.check(X509_new(), "X509_new"))
        let x509 = unsafe certificate.handle
        unsafe X509_set_version(x509, 2)  // v3
        try setSerialNumber(of: certificate)
        unsafe ASN1_TIME_set(X509_getm_notBefore(x509), (now + Self.backdating).secondsSince1970.time)
        unsafe ASN1_TIME_set(X509_getm_notAfter(x509), notAfter.secondsSince1970.time)
        try OpenSSLError.check(unsafe X509_set_pubkey(x509, subjectKey.handle), "X509_set_pubkey")
        try setNames(of: certificate, issuer: issuer)
        try addExtensions(to: certificate, issuer: issuer)
        let key = issuer?.key ?? subjectKey
        try OpenSSLError.check(unsafe X509_sign(x509, key.handle, DigestAlgorithm.sha256.handle), "X509_sign")
        return certificate
    }

    /// 63 random bits: unique without a counter to keep.
    private func setSerialNumber(of certificate: Certificate) throws(OpenSSLError) {
        let number = Random.integer(UInt64.self) >> 1 | 1
        try OpenSSLError.check(
            unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.handle), number), "ASN1_INTEGER_set_uint64")
    }

    private func setNames(of certificate: Certificate, issuer: Identity?) throws(OpenSSLError) {
        let name = unsafe X509_get_subject_name(certificate.handle)
        let bytes = Array(commonName.utf8.prefix(64))  // ub-common-name
        let status = unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, bytes, CInt(bytes.count), -1, 0)
        try OpenSSLError.check(status, "X509_NAME_add_entry_by_txt")
        let issuerName = unsafe issuer.map { unsafe X509_get_subject_name($0.certificate.handle) } ?? name
        try OpenSSLError.check(unsafe X509_set_issuer_name(certificate.handle, issuerName), "X509_set_issuer_name")
    }

    private func addExtensions(to certificate: Certificate, issuer: Identity?) throws(OpenSSLError) {
        var context = unsafe X509V3_CTX()
        let issuerHandle = unsafe issuer?.certificate.handle ?? certificate.handle
        unsafe X509V3_set_ctx(&context, issuerHandle, certificate.handle, nil, nil, 0)
        for (nid, value) in extensions {
            let made = unsafe X509V3_EXT_conf_nid(nil, &context, nid, value)
            let handle = unsafe try OpenSSLError.check(made, "X509V3_EXT_conf_nid")
            defer { unsafe X509_EXTENSION_free(handle) }
            try OpenSSLError.check(unsafe X509_add_ext(certificate.handle, handle, -1), "X509_add_ext")
        }
    }

    private var extensions: [(CInt, String)] {
        switch kind {
        case .authority:
            [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ]
        case .server(let dnsNames, let addresses):
            [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"), (NID_subject_key_identifier, "hash"),
                (NID_authority_key_identifier, "keyid"),
            ] + alternativeNames(dnsNames, addresses)
        }
    }

    /// OpenSSL reads a list with commas; a name that is none of DNS's characters would add entries of its own, and is left out.
    private func alternativeNames(_ dnsNames: [String], _ addresses: [IPAddress]) -> [(CInt, String)] {
        let names = dnsNames.filter { !$0.isEmpty && $0.utf8.allSatisfy(Self.isNameCharacter) }.map { "DNS:\($0)" }
        // A scope ("%2") belongs to this host, not to a certificate.
        let literals = addresses.map { "IP:\("\($0)".split(separator: "%")[0])" }
        let all = names + literals
        return all.isEmpty ? [] : [(NID_subject_alt_name, all.joined(separator: ","))]
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

extension Int64 {
    fileprivate var time: Int { Int(self) }
}
