/// Writes bits and Exp-Golomb codes, for building H.264 and AAC headers field by field.
public struct BitWriter {
    private var bits: [Bool] = []

    public init() {}

    public mutating func write(_ value: Int, bits count: Int) {
        for bit in stride(from: count - 1, through: 0, by: -1) { bits.append(value >> bit & 1 != 0) }
    }

    public mutating func flag(_ value: Bool) { bits.append(value) }

    /// ue(v) of H.264 clause 9.1.
    public mutating func unsigned(_ value: Int) {
        let length = Int.bitWidth - (value + 1).leadingZeroBitCount
        write(0, bits: length - 1)
        write(value + 1, bits: length)
    }

    /// se(v) of H.264 clause 9.1.1.
    public mutating func signed(_ value: Int) { unsigned(value > 0 ? 2 * value - 1 : -2 * value) }

    /// The bits filled up with zeros.
    public var bytes: [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { byte, bit in
                byte << 1 | (start + bit < bits.count && bits[start + bit] ? 1 : 0)
            }
        }
    }

    /// A NAL unit: header byte, the bits with the stop bit, emulation prevention where needed.
    public func nalUnit(header: UInt8) -> [UInt8] {
        var stopped = self
        stopped.flag(true)
        var unit = [header]
        var zeros = 0
        for byte in stopped.bytes {
            if zeros >= 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }
}
