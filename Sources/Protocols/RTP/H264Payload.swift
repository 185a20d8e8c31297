/// One RTP payload of H.264 (RFC 6184 §5.2): up to four bytes of header made here, then a slice of the NAL unit where it lies.
@frozen
public struct H264Payload {
    /// Bytes before `body`, first byte in the low bits; `headCount` of them.
    public var head: UInt32
    public var headCount: UInt8
    /// A slice of the caller's NAL unit or of the packetizer's parameter sets.
    public var body: UnsafeRawBufferPointer
    /// The last payload of its access unit: the RTP marker bit (RFC 6184 §5.1).
    public var isLast: Bool

    @inlinable
    public init(head: UInt32 = 0, headCount: UInt8 = 0, body: UnsafeRawBufferPointer, isLast: Bool = false) {
        (self.head, self.headCount, self.body, self.isLast) = (head, headCount, body, isLast)
    }
}
