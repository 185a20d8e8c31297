// fuzz: module=RTP
import RTP
import Wire

/// RTP header, both forms of extensions, and padding: every range that parsing gives must lie in the packet.
enum RTPHeaderFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        let packet = bytes.bytes
        guard let header = try? RTPHeader(parsing: packet) else { return }
        let payload = header.payload(inPacketOf: packet.byteCount)
        precondition(payload.lowerBound >= RTPHeader.fixedByteCount && payload.upperBound <= packet.byteCount)
        try? header.extensions?.forEach(in: packet) { id, range in
            precondition(range.lowerBound >= RTPHeader.fixedByteCount && range.upperBound <= header.byteCount)
            precondition(header.extensions?.range(of: id, in: packet) != nil)
        }
    }
}
