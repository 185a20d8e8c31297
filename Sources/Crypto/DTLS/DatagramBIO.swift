import COpenSSL

/// An OpenSSL BIO whose writes are datagrams: memory BIOs glue records together and lose the boundaries.
enum DatagramBIO {
    /// Made once, never freed, read only afterwards.
    nonisolated(unsafe) private static let method: OpaquePointer? = unsafe makeMethod()

    /// A BIO that reads `connection.incoming` and writes `connection.outgoing`; freed with the connection's SSL.
    static func make(for connection: DTLSConnection) -> OpaquePointer? {
        guard let method = unsafe method, let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(connection).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    private static func makeMethod() -> OpaquePointer? {
        guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams") else { return nil }
        unsafe BIO_meth_set_write(method, writeDatagram)
        unsafe BIO_meth_set_read(method, readDatagram)
        unsafe BIO_meth_set_ctrl(method, control)
        return unsafe method
    }
}

private func owner(of bio: OpaquePointer?) -> DTLSConnection? {
    guard let data = unsafe BIO_get_data(bio) else { return nil }
    return unsafe Unmanaged<DTLSConnection>.fromOpaque(data).takeUnretainedValue()
}

private func writeDatagram(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: CInt) -> CInt {
    guard let connection = unsafe owner(of: bio), count > 0 else { return -1 }
    unsafe connection.send(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    return count
}

private func readDatagram(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ capacity: CInt) -> CInt {
    unsafe BIO_clear_flags(bio, retryFlags)
    guard let connection = unsafe owner(of: bio), unsafe !connection.incoming.isEmpty, let bytes = unsafe bytes, capacity > 0
    else {
        unsafe BIO_set_flags(bio, readRetryFlags)
        return -1
    }
    let count = min(unsafe connection.incoming.count, Int(capacity))
    // Not empty, so it has a base: guarded above.
    unsafe UnsafeMutableRawPointer(bytes).copyMemory(from: connection.incoming.baseAddress!, byteCount: count)
    unsafe connection.incoming = UnsafeRawBufferPointer(start: nil, count: 0)
    return CInt(count)
}

private func control(_: OpaquePointer?, _ command: CInt, _: Int, _: UnsafeMutableRawPointer?) -> Int {
    switch command {
    case BIO_CTRL_FLUSH: 1
    case BIO_CTRL_DGRAM_QUERY_MTU, BIO_CTRL_DGRAM_GET_FALLBACK_MTU: 1_200
    case BIO_CTRL_DGRAM_GET_MTU_OVERHEAD: 28
    default: 0
    }
}

/// BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY, and both with BIO_FLAGS_WRITE and BIO_FLAGS_IO_SPECIAL: the macros do not import.
private let readRetryFlags: CInt = 0x01 | 0x08
private let retryFlags: CInt = 0x0F
