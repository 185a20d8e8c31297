import OpenSSL

/// A session's id in its URL (RFC 9725 §4.2): node, process generation, and 128 random bits that nobody guesses.
public enum SessionIdentifier {
    static func make(node: String, generation: UInt8) -> String {
        let digits = Random.bytes(count: 16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return "\(node)-\(generation)-\(digits)"
    }

    /// Longer ones are nobody's.
    public static let maximumLength = 96
}
