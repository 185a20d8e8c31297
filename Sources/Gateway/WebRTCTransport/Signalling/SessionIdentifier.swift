import OpenSSL

/// A session's id in its URL (RFC 9725 §4.2): node, process generation, and 128 random bits that nobody guesses.
public enum SessionIdentifier {
    static func make(node: String, generation: UInt8) -> String {
        let digits = Random.bytes(count: 16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return "\(node)-\(generation)-\(digits)"
    }

    /// The process generation in an id; nil when it is none of this node's.
    public static func generation(of id: String, node: String) -> UInt8? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == node else { return nil }
        return UInt8(parts[1])
    }

    /// Longer ones are nobody's.
    public static let maximumLength = 96
}
