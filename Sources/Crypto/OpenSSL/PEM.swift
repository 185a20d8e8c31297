import COpenSSL

/// PEM (RFC 7468) through memory BIOs.
enum PEM {
    /// The key that `body` reads from the text; nil if there is none.
    static func read(_ text: [UInt8], _ body: (OpaquePointer?) -> OpaquePointer?) -> OpaquePointer? {
        unsafe text.withUnsafeBytes { bytes in
            let source = unsafe BIO_new_mem_buf(bytes.baseAddress, CInt(bytes.count))
            defer { unsafe BIO_free(source) }
            return unsafe body(source)
        }
    }

    /// What `body` wrote; empty if it failed.
    static func write(_ body: (OpaquePointer?) -> CInt) -> [UInt8] {
        let sink = unsafe BIO_new(BIO_s_mem())
        defer { unsafe BIO_free(sink) }
        guard unsafe body(sink) == 1 else {
            ERR_clear_error()
            return []
        }
        var bytes: UnsafeMutablePointer<CChar>?
        let count = unsafe BIO_ctrl(sink, BIO_CTRL_INFO, 0, &bytes)
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}
