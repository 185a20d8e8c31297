/// Ways to cut a byte stream: whole, byte by byte, and at pseudo-random places, so that a parser shows it needs no luck.
public enum ByteFeeder {
    /// The pieces of `bytes` cut every `size` bytes.
    public static func pieces(of bytes: [UInt8], size: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }

    /// The pieces of `bytes` cut at places that `seed` decides.
    public static func pieces(of bytes: [UInt8], seed: UInt64, upTo largest: Int = 97) -> [[UInt8]] {
        var generator = SplitMix64(seed: seed)
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + Int(generator.next() % UInt64(largest)))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}

/// A small generator whose numbers depend on the seed alone.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
