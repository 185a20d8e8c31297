import COpenSSL

/// Bytes as the files that OpenSSL's PEM functions want.
enum MemoryBIO {
    /// Far above any chain of certificates.
    static let maximumBytes = 1 << 20

    static func reading<Result>(
        _ bytes: [UInt8], _ body: (OpaquePointer) throws(OpenSSLError) -> Result
    ) throws(OpenSSLError) -> Result {
        guard bytes.count <= maximumBytes else { throw OpenSSLError(call: "PEM text longer than \(maximumBytes) bytes", code: 0) }
        ERR_clear_error()
        let bio = unsafe try OpenSSLError.check(BIO_new(BIO_s_mem()), "BIO_new")
        defer { unsafe BIO_free(bio) }
        _ = unsafe bytes.withUnsafeBytes { unsafe BIO_write(bio, $0.baseAddress, CInt($0.count)) }
        return unsafe try body(bio)
    }

    static func writing(_ body: (OpaquePointer) throws(OpenSSLError) -> Void) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        let bio = unsafe try OpenSSLError.check(BIO_new(BIO_s_mem()), "BIO_new")
        defer { unsafe BIO_free(bio) }
        unsafe try body(bio)
        let count = unsafe Int(BIO_ctrl_pending(bio))
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = unsafe Int(max(0, BIO_read(bio, buffer.baseAddress, CInt(count))))
        }
    }
}
