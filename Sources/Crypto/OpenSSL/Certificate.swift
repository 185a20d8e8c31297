import COpenSSL
public import Wire

/// An X.509 certificate (RFC 5280).
@safe
public final class Certificate: Sendable {
    // An X509 is counted by reference, with atomic counts, and never changed after it is made.
    package nonisolated(unsafe) let handle: OpaquePointer

    package init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe X509_free(handle) }

    /// Reads the first certificate of a PEM text.
    public convenience init(pem: [UInt8]) throws(OpenSSLError) {
        guard let first = try Self.chain(pem: pem).first else { throw OpenSSLError(call: "no certificate in the text", code: 0) }
        unsafe X509_up_ref(first.handle)
        unsafe self.init(owning: first.handle)
    }

    /// Longest chain that is read.
    public static let maximumChainLength = 16

    /// Reads every certificate of a PEM text: the leaf first, then its issuers. Encrypted ones are refused: nobody is there to
    /// type a password.
    public static func chain(pem: [UInt8]) throws(OpenSSLError) -> [Certificate] {
        try PEM.checkLength(of: pem)
        return unsafe try PEM.reading(pem) { (bio) throws(OpenSSLError) in
            var chain: [Certificate] = []
            while let certificate = unsafe PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
                chain.append(unsafe Certificate(owning: certificate))
                if chain.count > maximumChainLength {
                    throw OpenSSLError(call: "more than \(maximumChainLength) certificates", code: 0)
                }
            }
            let error = OpenSSLError.drain("PEM_read_bio_X509")
            // The end of the text is reported as the lack of another first line.
            if chain.isEmpty || error.reasonCode != PEM_R_NO_START_LINE { throw error }
            return chain
        }
    }

    /// One PEM block.
    public func pem() throws(OpenSSLError) -> [UInt8] {
        unsafe try PEM.writing { (bio) throws(OpenSSLError) in
            try OpenSSLError.check(unsafe PEM_write_bio_X509(bio, handle), "PEM_write_bio_X509")
        }
    }

    /// The SHA-256 fingerprint of the DER form, 32 bytes.
    public var sha256Fingerprint: [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: DigestAlgorithm.sha256.byteCount) { buffer, count in
            var length: CUnsignedInt = 0
            let status = unsafe X509_digest(handle, DigestAlgorithm.sha256.handle, buffer.baseAddress, &length)
            precondition(status == 1, "a digest fails only without memory")
            count = Int(length)
        }
    }

    /// From when it is valid.
    public var notBefore: WallTime { unsafe Self.wallTime(X509_get0_notBefore(handle)) }

    /// Until when it is valid.
    public var notAfter: WallTime { unsafe Self.wallTime(X509_get0_notAfter(handle)) }

    private static func wallTime(_ time: UnsafePointer<ASN1_TIME>?) -> WallTime {
        var (days, seconds): (CInt, CInt) = (0, 0)
        let epoch = unsafe ASN1_TIME_set(nil, 0)
        defer { unsafe ASN1_TIME_free(epoch) }
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return WallTime(secondsSince1970: 0) }
        return WallTime(secondsSince1970: Int64(days) * 86_400 + Int64(seconds))
    }

    /// The subject in one line, for logs.
    public var subject: String {
        guard let text = unsafe X509_NAME_oneline(X509_get_subject_name(handle), nil, 0) else { return "" }
        defer { unsafe CRYPTO_free(text, nil, 0) }
        return unsafe String(cString: text)
    }

    /// Whether `key` made this certificate's signature.
    public func isSigned(by key: PrivateKey) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_verify(handle, key.handle) == 1
    }

    /// Whether the issuer's key made this certificate's signature.
    public func isSigned(by issuer: Certificate) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_verify(handle, X509_get0_pubkey(issuer.handle)) == 1
    }
}

extension OpenSSLError {
    /// The reason alone, without the library (ERR_GET_REASON).
    var reasonCode: CInt { CInt(truncatingIfNeeded: code & 0x7F_FFFF) }
}
