import COpenSSL
import Glibc

/// AES-128-GCM under one key, one message after the other. Each step gives false when OpenSSL refused.
@safe struct GCMContext {
    let tagByteCount: Int
    private let provider: GCMProvider
    private let handle: UnsafeMutableRawPointer
    /// The tag's parameter and the end of the list; only its address changes.
    private let tagParameter: UnsafeMutablePointer<OSSL_PARAM>

    init?(_ provider: GCMProvider, tagByteCount: Int) {
        guard let handle = unsafe OSSL_FUNC_cipher_newctx(provider.newContext)(provider.providerContext) else { return nil }
        (self.provider, self.tagByteCount) = (provider, tagByteCount)
        unsafe self.handle = handle
        unsafe tagParameter = .allocate(capacity: 2)
        unsafe tagParameter.initialize(to: OSSL_PARAM_construct_octet_string(Self.tagName, nil, tagByteCount))
        unsafe (tagParameter + 1).initialize(to: OSSL_PARAM_construct_end())
    }

    /// Once, when no copy of the context is used any more.
    func free() {
        unsafe OSSL_FUNC_cipher_freectx(provider.freeContext)(handle)
        unsafe tagParameter.deallocate()
    }

    /// - Parameter key: 16 bytes.
    func setKey(_ key: UnsafePointer<UInt8>) -> Bool {
        unsafe OSSL_FUNC_cipher_encrypt_init(provider.startEncryption)(handle, key, 16, nil, 0, nil) == 1
    }

    /// - Parameter nonce: 12 bytes.
    func startEncryption(nonce: UnsafePointer<UInt8>) -> Bool {
        unsafe OSSL_FUNC_cipher_encrypt_init(provider.startEncryption)(handle, nil, 0, nonce, 12, nil) == 1
    }

    /// - Parameter nonce: 12 bytes.
    func startDecryption(nonce: UnsafePointer<UInt8>) -> Bool {
        unsafe OSSL_FUNC_cipher_decrypt_init(provider.startDecryption)(handle, nil, 0, nonce, 12, nil) == 1
    }

    /// May come in parts.
    func addAssociatedData(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
        unsafe process(bytes, count: count, into: nil)
    }

    /// Encrypts or decrypts in place, by how the message was started.
    func process(_ bytes: UnsafeMutablePointer<UInt8>, count: Int) -> Bool {
        unsafe process(bytes, count: count, into: bytes)
    }

    /// Ends an encrypted message.
    func finish(writingTag tag: UnsafeMutablePointer<UInt8>) -> Bool {
        unsafe tagParameter.pointee.data = UnsafeMutableRawPointer(tag)
        return unsafe process(nil, count: 0, into: nil)
            && OSSL_FUNC_cipher_get_ctx_params(provider.getParameters)(handle, tagParameter) == 1
    }

    /// Ends a decrypted message; false, after a comparison in constant time, when the tag is another one.
    func finish(expectingTag tag: UnsafeMutablePointer<UInt8>) -> Bool {
        unsafe tagParameter.pointee.data = UnsafeMutableRawPointer(tag)
        return unsafe OSSL_FUNC_cipher_set_ctx_params(provider.setParameters)(handle, tagParameter) == 1
            && process(nil, count: 0, into: nil)
    }

    /// No input ends the message, input without output is associated data.
    private func process(_ input: UnsafePointer<UInt8>?, count: Int, into output: UnsafeMutablePointer<UInt8>?) -> Bool {
        var written = 0
        return unsafe OSSL_FUNC_cipher_cipher(provider.process)(handle, output, &written, count, input, count) == 1
    }

    /// A parameter keeps a pointer to its name: never freed.
    nonisolated(unsafe) private static let tagName = unsafe strdup(OSSL_CIPHER_PARAM_AEAD_TAG)
}
