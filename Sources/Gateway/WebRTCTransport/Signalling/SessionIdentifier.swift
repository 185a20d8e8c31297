import OpenSSL
public import Wire

/// A session's id in its URL (RFC 9725 §4.2): node, process generation, 128 random bits that nobody guesses, and a seal of 64
/// bits over these and the session's token.
///
/// Whoever is asked for a session of another process or node has the same key, and so tells its owner from a stranger before it
/// passes anything on.
public enum SessionIdentifier {
    static func make(node: String, generation: UInt8, for token: Secret, key: Secret) -> String {
        let open = "\(node)-\(generation)-\(String(hexadecimal: Random.bytes(count: randomDigits / 2)))"
        return open + seal(open, token, key)
    }

    /// Where a session is, as its id says.
    public struct Home: Equatable, Sendable {
        /// Its name in the platform.
        public let node: String
        /// Of the node's processes.
        public let generation: UInt8

        /// Nil for what no node has made.
        public init?(of id: String) {
            let parts = id.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, !parts[0].isEmpty, let generation = UInt8(parts[1]),
                parts[0].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }),
                parts[2].utf8.count == randomDigits + sealDigits, parts[2].utf8.allSatisfy(\.isLowerHexadecimal)
            else { return nil }
            (node, self.generation) = (String(parts[0]), generation)
        }
    }

    /// Whether a session of this id was made with this token, by a process that has this key.
    public static func isSealed(_ id: String, for token: Secret, key: Secret) -> Bool {
        ConstantTime.isEqual(Array(id.utf8.suffix(sealDigits)), Array(seal(String(id.dropLast(sealDigits)), token, key).utf8))
    }

    private static func seal(_ open: String, _ token: Secret, _ key: Secret) -> String {
        let code = HMAC.sha256(key: key.reveal(), Array("session \(open) ".utf8) + Digest.sha256(token.reveal()))
        return String(hexadecimal: code.prefix(sealDigits / 2))
    }

    /// Longer ones are nobody's.
    public static let maximumLength = 96
    private static let randomDigits = 32
    private static let sealDigits = 16
}

extension UInt8 {
    fileprivate var isLowerHexadecimal: Bool { (0x30...0x39).contains(self) || (0x61...0x66).contains(self) }
}
