import COpenSSL

/// The public half of an EC P-384 key: verifies ES384 signatures (RFC 7518 §3.4). Immutable, so any thread may use it.
///
/// `@unchecked Sendable`: the handle is never changed after `init`, and OpenSSL counts its references atomically.
@safe
public final class ES384PublicKey: @unchecked Sendable {
    /// R and S, 48 bytes each.
    public static let signatureLength = 96
    /// Bytes of a PEM or DER key, at most: a P-384 key has 120, its PEM 215.
    public static let maximumEncodedLength = 4_096

    // Sendable: the EVP_PKEY is only read after init, and OpenSSL documents concurrent reads of a key as safe.
    let key: OpaquePointer

    init(owning key: OpaquePointer) { unsafe self.key = key }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Reads a PEM `PUBLIC KEY` (SubjectPublicKeyInfo, RFC 5280 §4.1).
    ///
    /// - Throws: `.malformed`, `.wrongCurve` for keys of any other kind, `.offCurve` for points that are not on P-384.
    public convenience init(pem: [UInt8]) throws(ES384Error) {
        guard pem.count <= Self.maximumEncodedLength else { throw .malformed }
        guard let key = unsafe PEM.read(pem, { unsafe PEM_read_bio_PUBKEY($0, nil, nil, nil) }) else {
            throw ES384Error.takingQueue(pointError: .offCurve, otherwise: .malformed)
        }
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
        unsafe PEM.write { unsafe PEM_write_bio_PUBKEY($0, key) }
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

    static func isP384(_ key: OpaquePointer) -> Bool {
        defer { ERR_clear_error() }
        var name = [CChar](repeating: 0, count: 32)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
        return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) == "secp384r1"
    }
}
