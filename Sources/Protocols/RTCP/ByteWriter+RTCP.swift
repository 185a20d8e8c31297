import Wire

extension ByteWriter {
    /// Writes one RTCP packet: the common header, then what `body` writes, then the length in words (RFC 3550 §6.4.1).
    /// - Parameter count: the five bits beside the version.
    /// - Precondition: `body` writes whole words; every packet type of ours does.
    mutating func writeRTCP(_ packetType: UInt8, count: UInt8, _ body: (inout ByteWriter) -> Void) {
        precondition(count < 32, "five bits: lists hold 31 at most")
        let start = self.count
        write(0x80 | count)
        write(packetType)
        write(UInt16(0))
        body(&self)
        precondition((self.count - start) % 4 == 0, "an RTCP packet is whole words")
        patch(UInt16((self.count - start) / 4 - 1), at: start + 2)
    }
}
