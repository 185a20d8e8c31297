import COpenSSL

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
            // The capacity is not zero.
            let digest = digest.baseAddress!
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
