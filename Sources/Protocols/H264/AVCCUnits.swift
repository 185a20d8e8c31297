/// The NAL units of one access unit in length-prefixed form (ISO/IEC 14496-15 §5.3.4.2), as RTMP carries them.
///
/// The units lie in the given bytes and live as long as those. Empty units, which some encoders send, are stepped over.
@frozen
public struct AVCCUnits {
    public let bytes: UnsafeRawBufferPointer
    /// Bytes of each length: 1, 2 or 4.
    public let lengthSize: Int
    @usableFromInline var offset = 0

    /// - Parameter lengthSize: as `AVCDecoderConfigurationRecord` gave it, which lets only 1, 2 and 4 pass.
    @inlinable
    public init(_ bytes: UnsafeRawBufferPointer, lengthSize: Int) {
        (self.bytes, self.lengthSize) = (bytes, lengthSize)
    }

    /// The next unit, its header byte first; nil at the end.
    /// - Throws: `.truncated` inside a length, `.lengthBeyondEnd`. After a throw the rest is given up.
    @inlinable
    public mutating func next() throws(H264Error) -> UnsafeRawBufferPointer? {
        while offset < bytes.count {
            guard bytes.count - offset >= lengthSize else { throw finish(.truncated) }
            var length = 0
            for index in 0..<lengthSize { length = length << 8 | Int(bytes[offset + index]) }
            let start = offset + lengthSize
            guard length <= bytes.count - start else { throw finish(.lengthBeyondEnd) }
            offset = start + length
            if length > 0 { return UnsafeRawBufferPointer(rebasing: bytes[start..<offset]) }
        }
        return nil
    }

    @inlinable
    mutating func finish(_ error: H264Error) -> H264Error {
        offset = bytes.count
        return error
    }
}
