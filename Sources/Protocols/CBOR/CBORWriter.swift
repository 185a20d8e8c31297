import Wire

extension CBORValue {
    /// The item in its shortest form, lengths definite (RFC 8949 §4.2.1, but for the order of maps).
    public var serialized: [UInt8] {
        var writer = ByteWriter(reserving: 256)
        write(into: &writer)
        return writer.bytes
    }

    private func write(into writer: inout ByteWriter) {
        switch self {
        case .integer(let value):
            if value >= 0 { Self.head(0, UInt64(value), &writer) } else { Self.head(1, UInt64(-1 - value), &writer) }
        case .bytes(let bytes):
            Self.head(2, UInt64(bytes.count), &writer)
            writer.write(contentsOf: bytes)
        case .text(let text):
            Self.head(3, UInt64(text.utf8.count), &writer)
            writer.write(contentsOf: text.utf8)
        case .array(let items):
            Self.head(4, UInt64(items.count), &writer)
            for item in items { item.write(into: &writer) }
        case .map(let members):
            Self.head(5, UInt64(members.count), &writer)
            for member in members {
                CBORValue.text(member.name).write(into: &writer)
                member.value.write(into: &writer)
            }
        case .tagged(let tag, let item):
            Self.head(6, tag, &writer)
            item.write(into: &writer)
        case .double(let value):
            writer.write(0xFB as UInt8)
            writer.write(value.bitPattern)
        case .bool(let value): writer.write(value ? 0xF5 : 0xF4 as UInt8)
        case .null: writer.write(0xF6 as UInt8)
        }
    }

    private static func head(_ major: UInt8, _ argument: UInt64, _ writer: inout ByteWriter) {
        switch argument {
        case 0..<24: writer.write(major << 5 | UInt8(argument))
        case 24...0xFF:
            writer.write(major << 5 | 24)
            writer.write(UInt8(argument))
        case 0x100...0xFFFF:
            writer.write(major << 5 | 25)
            writer.write(UInt16(argument))
        case 0x1_0000...0xFFFF_FFFF:
            writer.write(major << 5 | 26)
            writer.write(UInt32(argument))
        default:
            writer.write(major << 5 | 27)
            writer.write(argument)
        }
    }
}
