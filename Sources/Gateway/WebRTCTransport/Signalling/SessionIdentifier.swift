import OpenSSL
import Wire

/// A session's id in its URL (RFC 9725 §4.2): node, process generation, and 128 random bits that nobody guesses.
public enum SessionIdentifier {
    static func make(node: String, generation: UInt8) -> String {
        let digits = String(hexadecimal: Random.bytes(count: 16))
        return "\(node)-\(generation)-\(digits)"
    }

    /// Where a session is, as its id says.
    public struct Place: Equatable, Sendable {
        public let node: String
        /// Of the node's processes.
        public let generation: UInt8

        /// Nil for what no node has made.
        public init?(of id: String) {
            let parts = id.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, !parts[0].isEmpty, let generation = UInt8(parts[1]),
                parts[0].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
            else { return nil }
            (node, self.generation) = (String(parts[0]), generation)
        }
    }

    /// Longer ones are nobody's.
    public static let maximumLength = 96
}
