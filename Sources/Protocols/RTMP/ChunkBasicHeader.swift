import Wire

/// The first one to three bytes of a chunk: header format and chunk stream id (RTMP 1.0 §5.3.1.1).
struct ChunkBasicHeader: Equatable {
    /// 0 to 3: how much of the message header follows.
    var format: UInt8
    /// 2 to 65,599.
    var chunkStreamID: UInt32

    /// Nil when more bytes are needed.
    static func read(from reader: inout ByteReader) -> ChunkBasicHeader? {
        guard let first = reader.read(UInt8.self) else { return nil }
        let format = first >> 6
        switch first & 0x3F {
        case 0:
            guard let second = reader.read(UInt8.self) else { return nil }
            return ChunkBasicHeader(format: format, chunkStreamID: UInt32(second) + 64)
        case 1:
            guard let littleEndian = reader.read(UInt16.self) else { return nil }
            return ChunkBasicHeader(format: format, chunkStreamID: UInt32(littleEndian.byteSwapped) + 64)
        case let id: return ChunkBasicHeader(format: format, chunkStreamID: UInt32(id))
        }
    }

    func write(into bytes: inout [UInt8]) {
        switch chunkStreamID {
        case ..<64: bytes.append(format << 6 | UInt8(chunkStreamID))
        case ..<320: bytes += [format << 6, UInt8(chunkStreamID - 64)]
        default:
            let id = UInt16(truncatingIfNeeded: chunkStreamID - 64)
            bytes += [format << 6 | 1, UInt8(truncatingIfNeeded: id), UInt8(truncatingIfNeeded: id >> 8)]
        }
    }
}
