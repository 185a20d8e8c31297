import Wire

/// Cuts messages into chunks (RTMP 1.0 §5.3). Every message has a full header: what a server says is short and rare.
public struct ChunkWriter: Sendable {
    /// 128 until a Set Chunk Size has been sent.
    public var chunkSize = 128

    /// A writer of chunks of 128 bytes.
    public init() {}

    /// - Parameter chunkStreamID: 2 to 65,599.
    public func write(
        type: UInt8, timestamp: UInt32 = 0, streamID: UInt32 = 0, chunkStreamID: UInt32, payload: [UInt8],
        into bytes: inout [UInt8]
    ) {
        ChunkBasicHeader(format: 0, chunkStreamID: chunkStreamID).write(into: &bytes)
        let isExtended = timestamp >= ExtendedTimestamp.mark
        bytes.appendUInt24(isExtended ? ExtendedTimestamp.mark : timestamp)
        bytes.appendUInt24(UInt32(payload.count))
        bytes.append(type)
        bytes.append(bigEndian: streamID.byteSwapped)
        var start = 0
        repeat {
            if start > 0 { ChunkBasicHeader(format: 3, chunkStreamID: chunkStreamID).write(into: &bytes) }
            if isExtended { bytes.append(bigEndian: timestamp) }
            let end = min(payload.count, start + chunkSize)
            bytes.append(contentsOf: payload[start..<end])
            start = end
        } while start < payload.count
    }
}
