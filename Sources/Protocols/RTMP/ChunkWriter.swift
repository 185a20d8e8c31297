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
        let isExtended = timestamp >= 0xFF_FFFF
        let length = UInt32(payload.count)
        Self.write24(isExtended ? 0xFF_FFFF : timestamp, into: &bytes)
        Self.write24(length, into: &bytes)
        bytes.append(type)
        Self.write32(streamID.byteSwapped, into: &bytes)
        var start = 0
        repeat {
            if start > 0 { ChunkBasicHeader(format: 3, chunkStreamID: chunkStreamID).write(into: &bytes) }
            if isExtended { Self.write32(timestamp, into: &bytes) }
            let end = min(payload.count, start + chunkSize)
            bytes.append(contentsOf: payload[start..<end])
            start = end
        } while start < payload.count
    }

    private static func write24(_ value: UInt32, into bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 16))
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    private static func write32(_ value: UInt32, into bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 24))
        write24(value, into: &bytes)
    }
}
