import COpenSSL
import Wire

/// What a new certificate shall say (RFC 5280 §4).
struct CertificateRequest {
    enum Kind {
        case selfSigned
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
        case .selfSigned: [(NID_basic_constraints, "critical,CA:FALSE")]
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
