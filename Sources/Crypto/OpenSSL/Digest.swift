import COpenSSL

/// Message digests in one call (FIPS 180-4; MD5 only for old formats that ask for it).
public enum Digest {
    /// 20 bytes.
    public static func sha1(_ bytes: [UInt8]) -> [UInt8] { DigestAlgorithm.sha1.digest(of: bytes) }
    /// 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] { DigestAlgorithm.sha256.digest(of: bytes) }
    /// 48 bytes.
    public static func sha384(_ bytes: [UInt8]) -> [UInt8] { DigestAlgorithm.sha384.digest(of: bytes) }
    /// 16 bytes.
    public static func md5(_ bytes: [UInt8]) -> [UInt8] { DigestAlgorithm.md5.digest(of: bytes) }
}

/// A digest algorithm, fetched from OpenSSL once: a fetch by name costs more than digesting a packet.
@safe
struct DigestAlgorithm: Sendable {
    // An EVP_MD that was fetched is immutable, counted by reference, and never freed here: it lives as long as the process.
    nonisolated(unsafe) let handle: OpaquePointer
    let byteCount: Int

    static let sha1 = DigestAlgorithm("SHA1")
    static let sha256 = DigestAlgorithm("SHA256")
    static let sha384 = DigestAlgorithm("SHA384")
    static let md5 = DigestAlgorithm("MD5")

    private init(_ name: String) {
        guard let handle = unsafe EVP_MD_fetch(nil, name, nil) else {
            preconditionFailure("OpenSSL's default provider has no \(name)")  // no input decides this: the build is broken
        }
        unsafe self.handle = handle
        byteCount = unsafe Int(EVP_MD_get_size(handle))
    }

    func digest(of bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { digest, count in
            let status = unsafe bytes.withUnsafeBytes {
                unsafe EVP_Digest($0.baseAddress, $0.count, digest.baseAddress, nil, handle, nil)
            }
            precondition(status == 1, "a digest fails only without memory")
            count = byteCount
        }
    }

    func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { code, count in
            let result = unsafe key.withUnsafeBytes { key in
                unsafe message.withUnsafeBufferPointer { message in
                    // HMAC refuses a null key even of length 0.
                    unsafe COpenSSL.HMAC(
                        handle, key.baseAddress ?? UnsafeRawPointer(code.baseAddress), CInt(key.count), message.baseAddress,
                        message.count, code.baseAddress, nil)
                }
            }
            unsafe precondition(result != nil, "an HMAC fails only without memory")
            count = byteCount
        }
    }
}

/// SHA-256 of bytes that come in parts, as those of a file do.
@safe public struct RunningSHA256: ~Copyable {
    private let context: OpaquePointer

    public init() {
        guard let context = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex2(context, DigestAlgorithm.sha256.handle, nil) == 1
        else { preconditionFailure("a digest fails only without memory") }
        unsafe self.context = context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    public mutating func add(_ bytes: ArraySlice<UInt8>) {
        let status = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(status == 1, "a digest fails only without memory")
    }

    /// 32 bytes.
    public consuming func finish() -> [UInt8] {
        let context = unsafe context
        return unsafe [UInt8](unsafeUninitializedCapacity: DigestAlgorithm.sha256.byteCount) { digest, count in
            precondition(unsafe EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1, "a digest fails only without memory")
            count = DigestAlgorithm.sha256.byteCount
        }
    }
}

/// Keyed-hash message authentication codes in one call (RFC 2104). Compare them with `ConstantTime.isEqual`.
public enum HMAC {
    /// 20 bytes.
    public static func sha1(key: [UInt8], _ message: [UInt8]) -> [UInt8] { DigestAlgorithm.sha1.authenticate(message, key: key) }
    /// 32 bytes.
    public static func sha256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        DigestAlgorithm.sha256.authenticate(message, key: key)
    }
}

/// Comparisons whose time tells nothing about where the difference is.
public enum ConstantTime {
    /// Whether two byte strings are equal. Their lengths are no secret.
    public static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
