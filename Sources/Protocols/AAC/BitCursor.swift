/// A big-endian bit cursor over a few bytes; nil at the end.
struct BitCursor {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { 8 * bytes.count - position }

    mutating func read(_ count: Int) -> UInt32? {
        guard remaining >= count else { return nil }
        var value: UInt32 = 0
        for _ in 0..<count {
            value = value << 1 | UInt32(bytes[position / 8] >> UInt8(7 - position % 8) & 1)
            position += 1
        }
        return value
    }
}
