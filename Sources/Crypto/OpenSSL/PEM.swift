import COpenSSL

/// PEM texts (RFC 7468) as the files that OpenSSL's functions read and write.
enum PEM {
    /// Far above any chain of certificates.
    private static let maximumByteCount = 1 << 20

    /// Lends `body` the text as a file.
    static func reading<Result, Failure: Error>(
        _ text: [UInt8], _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let file = unsafe makeFile()
        defer { unsafe BIO_free(file) }
        _ = unsafe text.withUnsafeBytes { unsafe BIO_write(file, $0.baseAddress, CInt($0.count)) }
        return unsafe try body(file)
    }

    /// What `body` wrote to the file that it is lent.
    static func writing(_ body: (OpaquePointer) throws(OpenSSLError) -> Void) throws(OpenSSLError) -> [UInt8] {
        let file = unsafe makeFile()
        defer { unsafe BIO_free(file) }
        unsafe try body(file)
        let count = unsafe Int(BIO_ctrl_pending(file))
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = unsafe Int(max(0, BIO_read(file, buffer.baseAddress, CInt(count))))
        }
    }

    /// - Throws: for texts that are longer than any of ours.
    static func checkLength(of text: [UInt8]) throws(OpenSSLError) {
        guard text.count <= maximumByteCount else {
            throw OpenSSLError(call: "PEM text longer than \(maximumByteCount) bytes", code: 0)
        }
    }

    private static func makeFile() -> OpaquePointer {
        ERR_clear_error()
        guard let file = unsafe BIO_new(BIO_s_mem()) else { preconditionFailure("a memory BIO fails only without memory") }
        return unsafe file
    }
}
