import COpenSSL
public import Wire

/// Authenticated encryption of small values with one 256-bit key: AES in Galois/Counter Mode (NIST SP 800-38D).
///
/// A sealed value is nonce (12 bytes, random), ciphertext, tag (16 bytes). Random nonces are sound
/// for 2^32 values of a key (§8.3).
///
///     let sealed = cipher.seal(streamKey, context: Array("ingest/abc".utf8))
///     cipher.open(sealed, context: Array("ingest/abc".utf8))  // nil in any other place
public struct AES256GCM: Sendable {
    /// 256 bits.
    public static let keyByteCount = 32
    static let nonceByteCount = 12
    static let tagByteCount = 16

    private let key: Secret

    /// Nil unless the key has 32 bytes.
    public init?(key: Secret) {
        guard key.count == Self.keyByteCount else { return nil }
        self.key = key
    }

    /// - Parameter context: what must be the same when the value is opened: it cannot be moved to another place unnoticed.
    public func seal(_ plaintext: [UInt8], context: [UInt8]) -> [UInt8] {
        seal(plaintext, context: context, nonce: Random.bytes(count: Self.nonceByteCount))
    }

    func seal(_ plaintext: [UInt8], context: [UInt8], nonce: [UInt8]) -> [UInt8] {
        precondition(nonce.count == Self.nonceByteCount, "the length that the cipher expects unless told otherwise")
        guard let cipher = GCMOperation(isSealing: true, key: key.reveal(), nonce: nonce),
            cipher.authenticate(context), let ciphertext = cipher.update(plaintext), cipher.finish(),
            let tag = cipher.tag(count: Self.tagByteCount)
        else { preconditionFailure("encryption fails only without memory") }
        return nonce + ciphertext + tag
    }

    /// - Returns: nil when the key or the context is another, or the value was changed.
    public func open(_ sealed: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.nonceByteCount + Self.tagByteCount else { return nil }
        let nonce = Array(sealed.prefix(Self.nonceByteCount))
        let ciphertext = Array(sealed.dropFirst(Self.nonceByteCount).dropLast(Self.tagByteCount))
        guard let cipher = GCMOperation(isSealing: false, key: key.reveal(), nonce: nonce), cipher.authenticate(context),
            let plaintext = cipher.update(ciphertext), cipher.expect(tag: Array(sealed.suffix(Self.tagByteCount))),
            cipher.finish()
        else { return nil }
        return plaintext
    }
}

/// One encryption or decryption under way.
@safe
private final class GCMOperation {
    private let handle: OpaquePointer

    init?(isSealing: Bool, key: [UInt8], nonce: [UInt8]) {
        guard let handle = unsafe EVP_CIPHER_CTX_new() else { return nil }
        unsafe self.handle = handle
        guard unsafe EVP_CipherInit_ex(handle, EVP_aes_256_gcm(), nil, key, nonce, isSealing ? 1 : 0) == 1 else { return nil }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(handle) }

    /// Bytes that the tag covers and that are not encrypted.
    func authenticate(_ bytes: [UInt8]) -> Bool {
        var count: CInt = 0
        return unsafe bytes.isEmpty || EVP_CipherUpdate(handle, nil, &count, bytes, CInt(bytes.count)) == 1
    }

    func update(_ bytes: [UInt8]) -> [UInt8]? {
        guard !bytes.isEmpty else { return [] }
        var output = [UInt8](repeating: 0, count: bytes.count)
        var count: CInt = 0
        guard unsafe EVP_CipherUpdate(handle, &output, &count, bytes, CInt(bytes.count)) == 1, count == bytes.count else {
            return nil
        }
        return output
    }

    /// Whether all is well; when opening, whether the tag is right.
    func finish() -> Bool {
        var nothing: [UInt8] = [0]
        var count: CInt = 0
        return unsafe EVP_CipherFinal_ex(handle, &nothing, &count) == 1
    }

    func tag(count: Int) -> [UInt8]? {
        var tag = [UInt8](repeating: 0, count: count)
        return unsafe EVP_CIPHER_CTX_ctrl(handle, EVP_CTRL_AEAD_GET_TAG, CInt(count), &tag) == 1 ? tag : nil
    }

    func expect(tag: [UInt8]) -> Bool {
        var tag = tag
        return unsafe EVP_CIPHER_CTX_ctrl(handle, EVP_CTRL_AEAD_SET_TAG, CInt(tag.count), &tag) == 1
    }
}
