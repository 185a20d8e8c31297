/// Cuts RTMP messages into chunks (RTMP 1.0 §5.3): a type-0 header, then type-3 ones.
struct ChunkWriter {
    /// OBS's chunk size.
    static let chunkSize = 4_096
    /// From here on the timestamp stands behind the message header (§5.3.1.3).
    static let extendedTimestamp = 0xFF_FFFF

    /// Whether type-3 chunks repeat the extended timestamp: Adobe's servers and ffmpeg do, some encoders do not.
    var repeatsExtendedTimestamp = true
    var messageStreamID: UInt32 = 1

    /// Set Chunk Size (§5.4.1), to be written before anything that uses the size.
    static let setChunkSize: [UInt8] = [2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, UInt8(chunkSize >> 8), UInt8(chunkSize & 0xFF)]

    /// Appends the chunks of one message; `timestamp` is in milliseconds and wraps at 32 bits.
    func append(_ tag: FLVFile.Tag, body: [UInt8], timestamp: Int, to output: inout [UInt8]) {
        let chunkStreamID: UInt8 = tag.kind == .audio ? 4 : tag.kind == .video ? 6 : 5
        let wrapped = UInt32(truncatingIfNeeded: timestamp)
        let isExtended = wrapped >= Self.extendedTimestamp
        let extended = isExtended ? Self.bigEndian(wrapped, 4) : []
        output.append(chunkStreamID)
        output += Self.bigEndian(isExtended ? UInt32(Self.extendedTimestamp) : wrapped, 3)
        output += Self.bigEndian(UInt32(body.count), 3)
        output.append(tag.kind.rawValue)
        output += [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: messageStreamID >> $0) }
        output += extended
        var start = 0
        while start < body.count {
            let end = min(body.count, start + Self.chunkSize)
            output += body[start..<end]
            start = end
            guard start < body.count else { break }
            output.append(0xC0 | chunkStreamID)
            if repeatsExtendedTimestamp { output += extended }
        }
    }

    private static func bigEndian(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
