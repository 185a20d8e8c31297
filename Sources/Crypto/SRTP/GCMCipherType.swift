import CSRTP
import Glibc

/// libsrtp's cipher type for AES-128-GCM (RFC 7714), made of `GCMContext`.
///
/// For a packet libsrtp sets the nonce, gives the associated data in one part or two, then the payload, and takes the tag.
enum GCMCipherType {
    private typealias Cipher = UnsafeMutablePointer<srtp_cipher_t>

    /// Nil without a provider. Made once, never freed: libsrtp and each of its ciphers keep a pointer to it.
    nonisolated(unsafe) static let type: UnsafePointer<srtp_cipher_type_t>? = {
        guard unsafe provider != nil else { return nil }
        let type = UnsafeMutablePointer<srtp_cipher_type_t>.allocate(capacity: 1)
        unsafe type.initialize(
            to: srtp_cipher_type_t(
                alloc: { unsafe allocate($0, keyByteCount: $1, tagByteCount: $2) }, dealloc: { unsafe free($0) },
                init: { unsafe setKey($1, of: $0) }, set_aad: { unsafe addAssociatedData($1, count: $2, to: $0) },
                encrypt: { unsafe encrypt($1, count: $2, in: $0) }, decrypt: { unsafe decrypt($1, count: $2, in: $0) },
                set_iv: { unsafe start($0, nonce: $1, $2) }, get_tag: { unsafe finish($0, tag: $1, count: $2) },
                description: strdup("AES-128-GCM of OpenSSL's provider"), test_data: SelfTest.aes128GCM(),
                id: UInt32(SRTP_AES_GCM_128)))
        return unsafe UnsafePointer(type)
    }()

    /// Pointers to OpenSSL's constants.
    nonisolated(unsafe) private static let provider = GCMProvider()

    /// libsrtp counts the salt's 12 bytes with the key's 16.
    static let keyAndSaltByteCount: CInt = 28

    private static func allocate(
        _ cipher: UnsafeMutablePointer<srtp_cipher_pointer_t?>?, keyByteCount: CInt, tagByteCount: CInt
    ) -> srtp_err_status_t {
        guard keyByteCount == keyAndSaltByteCount, tagByteCount == 8 || tagByteCount == 16 else {
            return srtp_err_status_bad_param
        }
        guard let provider = unsafe provider, let context = GCMContext(provider, tagByteCount: Int(tagByteCount)) else {
            return srtp_err_status_alloc_fail
        }
        let state = UnsafeMutablePointer<GCMContext>.allocate(capacity: 1)
        unsafe state.initialize(to: context)
        let made = Cipher.allocate(capacity: 1)
        unsafe made.initialize(
            to: srtp_cipher_t(type: type, state: state, key_len: keyByteCount, algorithm: SRTP_AES_GCM_128))
        unsafe cipher?.pointee = made
        return srtp_err_status_ok
    }

    private static func free(_ cipher: Cipher?) -> srtp_err_status_t {
        guard let cipher = unsafe cipher else { return srtp_err_status_bad_param }
        unsafe context(cipher.pointee.state).free()
        unsafe cipher.pointee.state.deallocate()
        unsafe cipher.deallocate()
        return srtp_err_status_ok
    }

    private static func setKey(_ key: UnsafePointer<UInt8>?, of state: UnsafeMutableRawPointer?) -> srtp_err_status_t {
        guard let key = unsafe key, unsafe context(state).setKey(key) else { return srtp_err_status_init_fail }
        return srtp_err_status_ok
    }

    private static func start(
        _ state: UnsafeMutableRawPointer?, nonce: UnsafeMutablePointer<UInt8>?, _ direction: srtp_cipher_direction_t
    ) -> srtp_err_status_t {
        guard let nonce = unsafe nonce else { return srtp_err_status_bad_param }
        let isStarted =
            switch direction {
            case srtp_direction_encrypt: unsafe context(state).startEncryption(nonce: nonce)
            case srtp_direction_decrypt: unsafe context(state).startDecryption(nonce: nonce)
            default: false
            }
        return isStarted ? srtp_err_status_ok : srtp_err_status_init_fail
    }

    private static func addAssociatedData(
        _ bytes: UnsafePointer<UInt8>?, count: UInt32, to state: UnsafeMutableRawPointer?
    ) -> srtp_err_status_t {
        guard let bytes = unsafe bytes, unsafe context(state).addAssociatedData(bytes, count: Int(count)) else {
            return srtp_err_status_algo_fail
        }
        return srtp_err_status_ok
    }

    private static func encrypt(
        _ bytes: UnsafeMutablePointer<UInt8>?, count: UnsafeMutablePointer<UInt32>?, in state: UnsafeMutableRawPointer?
    ) -> srtp_err_status_t {
        guard let bytes = unsafe bytes, let count = unsafe count,
            unsafe context(state).process(bytes, count: Int(count.pointee))
        else { return srtp_err_status_cipher_fail }
        return srtp_err_status_ok
    }

    /// - Parameter count: with the tag behind the payload; without it afterwards.
    private static func decrypt(
        _ bytes: UnsafeMutablePointer<UInt8>?, count: UnsafeMutablePointer<UInt32>?, in state: UnsafeMutableRawPointer?
    ) -> srtp_err_status_t {
        let context = unsafe context(state)
        guard let bytes = unsafe bytes, let count = unsafe count, unsafe count.pointee >= context.tagByteCount else {
            return srtp_err_status_bad_param
        }
        let plainCount = unsafe Int(count.pointee) - context.tagByteCount
        guard unsafe context.process(bytes, count: plainCount), unsafe context.finish(expectingTag: bytes + plainCount) else {
            return srtp_err_status_auth_fail
        }
        unsafe count.pointee = UInt32(plainCount)
        return srtp_err_status_ok
    }

    private static func finish(
        _ state: UnsafeMutableRawPointer?, tag: UnsafeMutablePointer<UInt8>?, count: UnsafeMutablePointer<UInt32>?
    ) -> srtp_err_status_t {
        let context = unsafe context(state)
        guard let tag = unsafe tag, unsafe context.finish(writingTag: tag) else { return srtp_err_status_algo_fail }
        unsafe count?.pointee = UInt32(context.tagByteCount)
        return srtp_err_status_ok
    }

    /// libsrtp passes what `allocate` put into its cipher, and checks that it is there.
    private static func context(_ state: UnsafeMutableRawPointer?) -> GCMContext {
        unsafe state!.assumingMemoryBound(to: GCMContext.self).pointee
    }
}
