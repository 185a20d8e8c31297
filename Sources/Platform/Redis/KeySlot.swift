/// One of the 16,384 parts of a cluster's key space (redis.io/docs/reference/cluster-spec, "Key distribution model").
struct KeySlot: Hashable {
    static let count = 16_384

    let number: Int

    /// Nil beyond the last slot.
    init?(_ number: Int) {
        guard (0..<Self.count).contains(number) else { return nil }
        self.number = number
    }

    /// The slot of a key: that of the text between its first `{` and the next `}`, if there is any, so that keys can be kept
    /// together.
    init(of key: RedisArgument) { number = Int(Self.crc16(Self.tag(of: key.bytes[...]))) % Self.count }

    private static func tag(of key: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")) else { return key }
        let rest = key[(open + 1)...]
        guard let close = rest.firstIndex(of: UInt8(ascii: "}")), close > rest.startIndex else { return key }
        return rest[..<close]
    }

    /// CRC-16/XMODEM: polynomial 0x1021, from 0, no reflection.
    static func crc16(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte) << 8) { crc, _ in crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
        }
    }
}
