import COpenSSL

/// The public half of an EC P-384 key: verifies ES384 signatures (RFC 7518 §3.4). Immutable, so any thread may use it.
@safe
public final class ES384PublicKey: Sendable {
    /// R and S, 48 bytes each.
    public static let signatureLength = 96
    /// Bytes of a PEM or DER key, at most: a P-384 key has 120, its PEM 215.
    public static let maximumEncodedLength = 4_096

    // An EVP_PKEY is counted by reference, with atomic counts, and never changed after it is made.
    private nonisolated(unsafe) let key: OpaquePointer

    fileprivate init(owning key: OpaquePointer) { unsafe self.key = key }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Reads a PEM `PUBLIC KEY` (SubjectPublicKeyInfo, RFC 5280 §4.1). Encrypted ones are refused: without a callback OpenSSL
    /// would ask for a passphrase on the terminal.
    ///
    /// - Throws: `.malformed`, `.wrongCurve` for keys of any other kind, `.offCurve` for points that are not on P-384.
    public convenience init(pem: [UInt8]) throws(ES384Error) {
        guard pem.count <= Self.maximumEncodedLength else { throw .malformed }
        let read = unsafe PEM.reading(pem) { unsafe PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in -1 }, nil) }
        guard let key = unsafe read else { throw ES384Error.takingQueue(pointError: .offCurve, otherwise: .malformed) }
        do {
            try unsafe Self.check(key)
        } catch {
            unsafe EVP_PKEY_free(key)
            throw error
        }
        unsafe self.init(owning: key)
    }

    /// SubjectPublicKeyInfo in DER: what fingerprints are made of.
    public var der: [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_PUBKEY(key, &bytes)
        defer { unsafe CRYPTO_free(bytes, nil, 0) }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: max(0, Int(count))))
    }

    /// The PEM with a trailing newline.
    public var pem: [UInt8] {
        let text = unsafe try? PEM.writing { (file) throws(OpenSSLError) in
            try OpenSSLError.check(unsafe PEM_write_bio_PUBKEY(file, key), "PEM_write_bio_PUBKEY")
        }
        return text ?? []
    }

    /// Whether `signature`, raw R‖S, is the key's over SHA-384 of `message`.
    public func isValid(_ signature: some Collection<UInt8>, over message: some Collection<UInt8>) -> Bool {
        guard signature.count == Self.signatureLength else { return false }
        let der = ECDSASignature.der(fromRaw: Array(signature))
        let message = Array(message)
        let context = unsafe EVP_MD_CTX_new()
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha384(), nil, key) == 1 else { return false }
        return unsafe EVP_DigestVerify(context, der, der.count, message, message.count) == 1
    }

    private static func check(_ key: OpaquePointer) throws(ES384Error) {
        guard unsafe isP384(key) else { throw .wrongCurve }
        let context = unsafe EVP_PKEY_CTX_new(key, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_public_check(context) == 1 else {
            ERR_clear_error()
            throw .offCurve
        }
    }

    fileprivate static func isP384(_ key: OpaquePointer) -> Bool {
        defer { ERR_clear_error() }
        var name = [CChar](repeating: 0, count: 32)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
        return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) == "secp384r1"
    }
}

/// An EC P-384 key pair: makes ES384 signatures (RFC 7518 §3.4). Immutable, so any thread may use it.
@safe
public final class ES384PrivateKey: Sendable {
    // As of the public key.
    private nonisolated(unsafe) let key: OpaquePointer
    /// What verifies this key's signatures.
    public let publicKey: ES384PublicKey

    private init(owning key: OpaquePointer) {
        unsafe EVP_PKEY_up_ref(key)
        unsafe self.key = key
        unsafe publicKey = ES384PublicKey(owning: key)
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Makes a new key pair.
    public static func generate() throws(ES384Error) -> ES384PrivateKey {
        let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, "P-384") == 1,
            unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key
        else { throw ES384Error.takingQueue(otherwise: .failed) }
        return unsafe ES384PrivateKey(owning: key)
    }

    /// Reads a PEM private key, PKCS #8 or SEC 1, without a passphrase.
    ///
    /// - Throws: `.malformed`, `.wrongCurve` for keys of any other kind.
    public convenience init(pem: [UInt8]) throws(ES384Error) {
        guard pem.count <= ES384PublicKey.maximumEncodedLength else { throw .malformed }
        // An empty passphrase: without a callback OpenSSL would ask for one on the terminal.
        let read = unsafe PEM.reading(pem) { unsafe PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in 0 }, nil) }
        guard let key = unsafe read else { throw ES384Error.takingQueue(otherwise: .malformed) }
        guard unsafe ES384PublicKey.isP384(key) else {
            unsafe EVP_PKEY_free(key)
            throw .wrongCurve
        }
        unsafe self.init(owning: key)
    }

    /// PKCS #8 without a passphrase. Whoever reads it can sign.
    public var pem: [UInt8] {
        let text = unsafe try? PEM.writing { (file) throws(OpenSSLError) in
            try OpenSSLError.check(
                unsafe PEM_write_bio_PrivateKey(file, key, nil, nil, 0, nil, nil), "PEM_write_bio_PrivateKey")
        }
        return text ?? []
    }

    /// The signature over SHA-384 of `message`, raw R‖S.
    public func sign(_ message: some Collection<UInt8>) throws(ES384Error) -> [UInt8] {
        let message = Array(message)
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        var der = [UInt8](repeating: 0, count: ECDSASignature.maximumDERLength)
        var length = der.count
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha384(), nil, key) == 1,
            unsafe EVP_DigestSign(context, &der, &length, message, message.count) == 1
        else { throw ES384Error.takingQueue(otherwise: .failed) }
        return ECDSASignature.raw(fromDER: der.prefix(length))
    }
}

/// Why a key or signature of ES384 was not taken.
public enum ES384Error: Error, Equatable, Sendable {
    /// Not a PEM key of the expected kind.
    case malformed
    /// A key, but not EC P-384.
    case wrongCurve
    /// A SubjectPublicKeyInfo that can be read, but whose key is no point of its curve.
    case offCurve
    /// OpenSSL failed at something it should not.
    case failed

    /// Empties OpenSSL's error queue; `pointError` if the queue blames the key within what could be read. What the curve itself
    /// had to say is not in the queue.
    fileprivate static func takingQueue(pointError: ES384Error? = nil, otherwise: ES384Error) -> ES384Error {
        var found = otherwise
        while case let code = ERR_get_error(), code != 0 {
            guard let pointError else { continue }
            let reason = CInt(truncatingIfNeeded: code & 0x7F_FFFF)
            if (code >> 23) & 0xFF == UInt(ERR_LIB_EVP), reason == EVP_R_DECODE_ERROR { found = pointError }
        }
        return found
    }
}

/// The two forms of a P-384 signature: raw R‖S of JWS (RFC 7518 §3.4), and the DER SEQUENCE that OpenSSL speaks.
private enum ECDSASignature {
    /// SEQUENCE header and two INTEGERs of 49 bytes.
    static let maximumDERLength = 104
    private static let integerLength = 48

    /// - Parameter raw: exactly 96 bytes.
    static func der(fromRaw raw: [UInt8]) -> [UInt8] {
        precondition(raw.count == 2 * integerLength, "callers check the length, which the peer supplies")
        let body = integer(raw[..<integerLength]) + integer(raw[integerLength...])
        return [0x30, UInt8(body.count)] + body
    }

    /// - Parameter der: as OpenSSL made it.
    static func raw(fromDER der: ArraySlice<UInt8>) -> [UInt8] {
        var rest = der.dropFirst(2)
        var raw: [UInt8] = []
        for _ in 0..<2 {
            let length = Int(rest[rest.startIndex + 1])
            let value = rest.dropFirst(2).prefix(length).drop { $0 == 0 }
            raw += [UInt8](repeating: 0, count: integerLength - value.count) + value
            rest = rest.dropFirst(2 + length)
        }
        return raw
    }

    /// The shortest two's-complement form (X.690 §8.3): no leading zeros, but one before a set high bit.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var value = Array(bytes.drop { $0 == 0 })
        if value.isEmpty || value[0] & 0x80 != 0 { value.insert(0, at: 0) }
        return [0x02, UInt8(value.count)] + value
    }
}
