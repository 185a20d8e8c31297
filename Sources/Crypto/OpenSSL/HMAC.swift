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
