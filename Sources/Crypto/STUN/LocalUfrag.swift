/// One of our ICE user fragments: always eight ice-chars (RFC 8839 §5.4), so that it is a number and needs no String.
///
/// The first character is the process generation, five are random, the last two a keyed checksum of the others:
/// random ones are dropped without a look-up.
@frozen
public struct LocalUfrag: Hashable, Sendable, CustomStringConvertible {
    /// The eight characters, the first one in the highest byte.
    public let packed: UInt64

    /// From eight characters as one number, the first one in the high byte; `UfragMint` says whether it is ours.
    @inlinable public init(packed: UInt64) { self.packed = packed }

    /// From eight bytes of text; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 8 else { return nil }
        packed = text.utf8.reduce(0) { $0 << 8 | UInt64($1) }
    }

    public var description: String {
        String(decoding: (0..<8).map { UInt8(truncatingIfNeeded: packed >> UInt64(56 - 8 * $0)) }, as: UTF8.self)
    }

    /// The character of the process generation that handed it out.
    public var generationCharacter: UInt8 { UInt8(packed >> 56) }
}

/// Makes and recognises the ufrags of one process generation.
public struct UfragMint: Sendable {
    private let key: (UInt64, UInt64)
    /// Of the process that mints.
    public let generation: UInt8

    /// - Parameter key: 128 random bits, the same for all workers of a process.
    /// - Parameter generation: below 64; written as one ice-char.
    public init(key: (UInt64, UInt64), generation: UInt8) {
        precondition(generation < 64)
        (self.key, self.generation) = (key, generation)
    }

    /// - Parameter random: 30 random bits are used.
    public func mint(random: UInt64) -> LocalUfrag {
        var packed = UInt64(Self.character(UInt64(generation)))
        for index in 0..<5 { packed = packed << 8 | UInt64(Self.character(random >> UInt64(6 * index))) }
        return LocalUfrag(packed: packed << 16 | checksum(of: packed))
    }

    /// Whether this process made it: one SipHash of eight bytes.
    public func isOurs(_ ufrag: LocalUfrag) -> Bool {
        ufrag.packed & 0xFFFF == checksum(of: ufrag.packed >> 16)
            && ufrag.generationCharacter == Self.character(UInt64(generation))
    }

    private func checksum(of packed: UInt64) -> UInt64 {
        let hash = SipHash.hash(packed, key: key)
        return UInt64(Self.character(hash >> 6)) << 8 | UInt64(Self.character(hash))
    }

    /// The ice-char of the low six bits.
    private static func character(_ value: UInt64) -> UInt8 {
        switch UInt8(value & 63) {
        case let v where v < 26: UInt8(ascii: "A") + v
        case let v where v < 52: UInt8(ascii: "a") + v - 26
        case let v where v < 62: UInt8(ascii: "0") + v - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }
}

/// SipHash-2-4 of one 64-bit word (Aumasson and Bernstein 2012).
enum SipHash {
    static func hash(_ word: UInt64, key: (UInt64, UInt64)) -> UInt64 {
        var v0 = key.0 ^ 0x736f_6d65_7073_6575
        var v1 = key.1 ^ 0x646f_7261_6e64_6f6d
        var v2 = key.0 ^ 0x6c79_6765_6e65_7261
        var v3 = key.1 ^ 0x7465_6462_7974_6573
        func round() {
            v0 &+= v1
            v1 = rotate(v1, 13) ^ v0
            v0 = rotate(v0, 32)
            v2 &+= v3
            v3 = rotate(v3, 16) ^ v2
            v0 &+= v3
            v3 = rotate(v3, 21) ^ v0
            v2 &+= v1
            v1 = rotate(v1, 17) ^ v2
            v2 = rotate(v2, 32)
        }
        for block in [word, 8 << 56] {
            v3 ^= block
            for _ in 0..<2 { round() }
            v0 ^= block
        }
        v2 ^= 0xFF
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
}
