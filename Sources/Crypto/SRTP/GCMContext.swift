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

/// AES-128-GCM as OpenSSL's provider offers it (provider-cipher(7)), without EVP in between.
///
/// EVP of OpenSSL 3.0 asks the provider for the nonce's length whenever there is a new nonce: 18 of the 23 look-ups of parameters
/// by name that a packet takes in libsrtp's own type. Here the nonce comes with its length, and only the tag has a name.
@safe struct GCMProvider {
    typealias Function = UnsafePointer<OSSL_DISPATCH>

    let newContext, freeContext, startEncryption, startDecryption, process, getParameters, setParameters: Function
    let providerContext: UnsafeMutableRawPointer?
    /// Never freed: it keeps its provider loaded for as long as the process runs.
    private let cipher: OpaquePointer

    /// Nil when the configured provider lacks the cipher or one of the functions.
    init?() {
        guard let cipher = unsafe EVP_CIPHER_fetch(nil, Self.name, nil),
            let provider = unsafe EVP_CIPHER_get0_provider(cipher), let functions = unsafe Self.functions(of: provider)
        else { return nil }
        func function(_ identifier: CInt) -> Function? {
            var function = unsafe functions
            while unsafe function.pointee.function_id != 0 {
                if unsafe function.pointee.function_id == identifier { return unsafe function }
                unsafe function += 1
            }
            return nil
        }
        guard let newContext = unsafe function(OSSL_FUNC_CIPHER_NEWCTX),
            let freeContext = unsafe function(OSSL_FUNC_CIPHER_FREECTX),
            let startEncryption = unsafe function(OSSL_FUNC_CIPHER_ENCRYPT_INIT),
            let startDecryption = unsafe function(OSSL_FUNC_CIPHER_DECRYPT_INIT),
            let process = unsafe function(OSSL_FUNC_CIPHER_CIPHER),
            let getParameters = unsafe function(OSSL_FUNC_CIPHER_GET_CTX_PARAMS),
            let setParameters = unsafe function(OSSL_FUNC_CIPHER_SET_CTX_PARAMS)
        else { return nil }
        unsafe (self.newContext, self.freeContext) = (newContext, freeContext)
        unsafe (self.startEncryption, self.startDecryption, self.process) = (startEncryption, startDecryption, process)
        unsafe (self.getParameters, self.setParameters) = (getParameters, setParameters)
        unsafe self.cipher = cipher
        unsafe providerContext = OSSL_PROVIDER_get0_provider_ctx(provider)
    }

    /// The provider's table of functions for the cipher, ended by a zero.
    private static func functions(of provider: OpaquePointer) -> Function? {
        var mayNotBeKept: CInt = 0
        guard var algorithm = unsafe OSSL_PROVIDER_query_operation(provider, OSSL_OP_CIPHER, &mayNotBeKept), mayNotBeKept == 0
        else { return nil }
        while let names = unsafe algorithm.pointee.algorithm_names {
            if unsafe String(cString: names).split(separator: ":").contains(Substring(name)) {
                return unsafe algorithm.pointee.implementation
            }
            unsafe algorithm += 1
        }
        return nil
    }

    private static let name = "AES-128-GCM"
}
