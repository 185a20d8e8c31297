import COpenSSL

/// Random bytes fit for keys (OpenSSL's generator, seeded by the kernel).
public enum Random {
    /// As many bytes as asked for.
    public static func bytes(count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let status = unsafe RAND_bytes(buffer.baseAddress, CInt(count))
            precondition(count == 0 || status == 1, "a process without randomness must not make keys")
            filled = count
        }
    }

    /// A random integer of the type's full width.
    public static func integer<Integer: FixedWidthInteger>(_: Integer.Type = Integer.self) -> Integer {
        bytes(count: Integer.bitWidth / 8).reduce(0) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
    }
}
