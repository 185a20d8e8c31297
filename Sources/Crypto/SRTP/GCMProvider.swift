import COpenSSL

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
