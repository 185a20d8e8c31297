public import Wire

/// BYE (RFC 3550 §6.6); the reason text is not read.
public struct Goodbye: Equatable, Sendable {
    /// At most 31.
    public var ssrcs: [UInt32]

    public init(ssrcs: [UInt32]) { self.ssrcs = ssrcs }

    init?(parsing reader: inout ByteReader, count: UInt8) {
        ssrcs = []
        for _ in 0..<count {
            guard let ssrc = reader.read(UInt32.self) else { return nil }
            ssrcs.append(ssrc)
        }
    }

    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.goodbye, count: UInt8(ssrcs.count)) { body in
            for ssrc in ssrcs { body.write(ssrc) }
        }
    }
}
