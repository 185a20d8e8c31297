import COpenSSL
import CSRTP
import Glibc

/// HMAC-SHA-1 (RFC 2104) under one key: the two states that the key alone determines are computed once and copied.
@safe struct HMACSHA1 {
    private var inner = SHA_CTX()
    private var outer = SHA_CTX()
    private var message = SHA_CTX()

    /// - Parameter key: at most 64 bytes; SRTP's has 20.
    mutating func setKey(_ key: UnsafeRawBufferPointer) {
        precondition(key.count <= Self.blockByteCount)
        unsafe Self.begin(&inner, key, padding: 0x36)
        unsafe Self.begin(&outer, key, padding: 0x5C)
    }

    mutating func start() { message = inner }

    mutating func add(_ bytes: UnsafePointer<UInt8>, count: Int) { _ = unsafe openssl_sha1_add(&message, bytes, count) }

    /// - Parameter tag: takes the first `count` bytes of 20.
    mutating func finish(_ tag: UnsafeMutablePointer<UInt8>, count: Int) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.digestByteCount) { digest in
            guard let digest = digest.baseAddress else { return }
            _ = unsafe openssl_sha1_end(&message, digest)
            message = outer
            unsafe add(digest, count: Self.digestByteCount)
            _ = unsafe openssl_sha1_end(&message, digest)
            unsafe tag.update(from: digest, count: count)
        }
    }

    /// Forgets the key.
    mutating func cleanse() { unsafe OPENSSL_cleanse(&self, MemoryLayout<Self>.size) }

    private static func begin(_ state: inout SHA_CTX, _ key: UnsafeRawBufferPointer, padding: UInt8) {
        let block = (0..<blockByteCount).map { unsafe ($0 < key.count ? key[$0] : 0) ^ padding }
        _ = unsafe openssl_sha1_begin(&state)
        _ = unsafe openssl_sha1_add(&state, block, block.count)
    }

    static let blockByteCount = 64
    static let digestByteCount = 20
}

/// libsrtp's authentication type for HMAC-SHA-1 (RFC 3711 §4.2.1), made of `HMACSHA1`: its own one allocates twice for a packet.
enum HMACSHA1Type {
    private typealias Authentication = UnsafeMutablePointer<srtp_auth_t>

    /// Made once, never freed: libsrtp and each of its sessions keep a pointer to it.
    nonisolated(unsafe) static let type: UnsafePointer<srtp_auth_type_t> = {
        let type = UnsafeMutablePointer<srtp_auth_type_t>.allocate(capacity: 1)
        unsafe type.initialize(
            to: srtp_auth_type_t(
                alloc: { unsafe allocate($0, keyByteCount: $1, tagByteCount: $2) }, dealloc: { unsafe free($0) },
                init: { unsafe setKey($1, count: $2, of: $0) },
                compute: { unsafe finish($0, $1, count: $2, tag: $4, tagByteCount: $3) },
                update: { unsafe add($1, count: $2, to: $0) }, start: { unsafe start($0) },
                description: strdup("HMAC-SHA-1 with states kept"), test_data: SelfTest.hmacSHA1(), id: UInt32(SRTP_HMAC_SHA1)))
        return unsafe UnsafePointer(type)
    }()

    private static func allocate(
        _ authentication: UnsafeMutablePointer<srtp_auth_pointer_t?>?, keyByteCount: CInt, tagByteCount: CInt
    ) -> srtp_err_status_t {
        guard 0...CInt(HMACSHA1.blockByteCount) ~= keyByteCount, 0...CInt(HMACSHA1.digestByteCount) ~= tagByteCount else {
            return srtp_err_status_bad_param
        }
        let state = UnsafeMutablePointer<HMACSHA1>.allocate(capacity: 1)
        unsafe state.initialize(to: HMACSHA1())
        let made = Authentication.allocate(capacity: 1)
        unsafe made.initialize(
            to: srtp_auth_t(type: type, state: state, out_len: tagByteCount, key_len: keyByteCount, prefix_len: 0))
        unsafe authentication?.pointee = made
        return srtp_err_status_ok
    }

    private static func free(_ authentication: Authentication?) -> srtp_err_status_t {
        guard let authentication = unsafe authentication else { return srtp_err_status_bad_param }
        let state = unsafe state(authentication.pointee.state)
        unsafe state.pointee.cleanse()
        unsafe state.deallocate()
        unsafe authentication.deallocate()
        return srtp_err_status_ok
    }

    private static func setKey(
        _ key: UnsafePointer<UInt8>?, count: CInt, of pointer: UnsafeMutableRawPointer?
    ) -> srtp_err_status_t {
        guard 0...HMACSHA1.blockByteCount ~= Int(count) else { return srtp_err_status_bad_param }
        unsafe state(pointer).pointee.setKey(UnsafeRawBufferPointer(start: key, count: Int(count)))
        return srtp_err_status_ok
    }

    private static func start(_ pointer: UnsafeMutableRawPointer?) -> srtp_err_status_t {
        unsafe state(pointer).pointee.start()
        return srtp_err_status_ok
    }

    private static func add(
        _ bytes: UnsafePointer<UInt8>?, count: CInt, to pointer: UnsafeMutableRawPointer?
    ) -> srtp_err_status_t {
        guard let bytes = unsafe bytes, count >= 0 else { return srtp_err_status_bad_param }
        unsafe state(pointer).pointee.add(bytes, count: Int(count))
        return srtp_err_status_ok
    }

    private static func finish(
        _ pointer: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, count: CInt, tag: UnsafeMutablePointer<UInt8>?,
        tagByteCount: CInt
    ) -> srtp_err_status_t {
        guard let tag = unsafe tag, 0...HMACSHA1.digestByteCount ~= Int(tagByteCount) else { return srtp_err_status_bad_param }
        let status = unsafe add(bytes, count: count, to: pointer)
        unsafe state(pointer).pointee.finish(tag, count: Int(tagByteCount))
        return status
    }

    /// libsrtp passes what `allocate` put there.
    private static func state(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<HMACSHA1> {
        unsafe pointer!.assumingMemoryBound(to: HMACSHA1.self)
    }
}
