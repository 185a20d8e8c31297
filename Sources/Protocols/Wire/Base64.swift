/// Base64 (RFC 4648), taken in its one canonical form only.
///
///     Base64.standard.text(of: Array("fo".utf8))      // "Zm8="
///     Base64.url.decode("Zm8".utf8)                   // the bytes of "fo"
public enum Base64: Sendable {
    /// `+`, `/`, and padding to whole groups of four (§4): parameter sets, SDES keys, passwords.
    case standard
    /// `-`, `_`, and no padding (§5, RFC 7515 §2): tokens.
    case url

    /// - Returns: nil for any byte outside the alphabet, missing, needless or misplaced padding, an impossible length, or set
    ///   bits behind the last byte.
    @inlinable
    public func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        if let bytes = text.withContiguousStorageIfAvailable({ unsafe decode(text: $0.span) }) { return bytes }
        return decode(text: Array(text).span)
    }

    /// Not generic: code for any collection costs a token some thousand calls and allocations.
    @usableFromInline
    func decode(text: Span<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var (bits, bitCount, digitCount): (UInt32, Int, Int) = (0, 0, 0)
        while digitCount < text.count, let value = value(of: text[digitCount]) {
            digitCount += 1
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
        }
        guard digitCount % 4 != 1, bits & (1 << UInt32(bitCount) - 1) == 0 else { return nil }
        guard text.count - digitCount == paddingCount(digitCount) else { return nil }
        for index in digitCount..<text.count where text[index] != UInt8(ascii: "=") { return nil }
        return bytes
    }

    /// The ASCII text of `bytes`.
    @inlinable
    public func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        if let text = bytes.withContiguousStorageIfAvailable({ unsafe encode(bytes: $0.span) }) { return text }
        return encode(bytes: Array(bytes).span)
    }

    @usableFromInline
    func encode(bytes: Span<UInt8>) -> [UInt8] {
        let alphabet = self == .standard ? Self.standardAlphabet : Self.urlAlphabet
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var (bits, bitCount): (UInt32, Int) = (0, 0)
        for index in bytes.indices {
            bits = bits << 8 | UInt32(bytes[index])
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(alphabet[Int(bits >> UInt32(bitCount) & 63)])
            }
        }
        if bitCount > 0 { text.append(alphabet[Int(bits << UInt32(6 - bitCount) & 63)]) }
        for _ in 0..<paddingCount(text.count) { text.append(UInt8(ascii: "=")) }
        return text
    }

    /// What `encode` gives, as a string.
    public func text(of bytes: some Collection<UInt8>) -> String { String(decoding: encode(bytes), as: UTF8.self) }

    private func paddingCount(_ digitCount: Int) -> Int { self == .standard ? (4 - digitCount % 4) % 4 : 0 }

    private func value(of letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0") + 52
        case self == .standard ? UInt8(ascii: "+") : UInt8(ascii: "-"): 62
        case self == .standard ? UInt8(ascii: "/") : UInt8(ascii: "_"): 63
        default: nil
        }
    }

    private static let standardAlphabet = alphabet(ending: "+/")
    private static let urlAlphabet = alphabet(ending: "-_")

    private static func alphabet(ending: String) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(ending)".utf8)
    }
}
