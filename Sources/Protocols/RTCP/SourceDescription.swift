public import Wire

/// SDES with the one item that matters, CNAME (RFC 3550 §6.5.1); other items are stepped over.
public struct SourceDescription: Equatable, Sendable {
    /// What is said of one source.
    public struct Chunk: Equatable, Sendable {
        /// The source.
        public var ssrc: UInt32
        /// At most 255 bytes of UTF-8; nil when the chunk has none.
        public var cname: String?

        /// From its parts.
        public init(ssrc: UInt32, cname: String?) { (self.ssrc, self.cname) = (ssrc, cname) }
    }

    /// At most 31.
    public var chunks: [Chunk]

    static let cnameItem: UInt8 = 1

    /// From its chunks.
    public init(chunks: [Chunk]) { self.chunks = chunks }

    init?(parsing reader: inout ByteReader, count: UInt8) {
        chunks = []
        for _ in 0..<count {
            guard let chunk = Self.chunk(parsing: &reader) else { return nil }
            chunks.append(chunk)
        }
    }

    /// One chunk: items up to a zero byte, then zeros up to the next word.
    private static func chunk(parsing reader: inout ByteReader) -> Chunk? {
        guard let ssrc = reader.read(UInt32.self) else { return nil }
        var chunk = Chunk(ssrc: ssrc, cname: nil)
        while let item = reader.read(UInt8.self) {
            if item == 0 { return reader.skip((4 - reader.offset % 4) % 4) ? chunk : nil }
            guard let length = reader.read(UInt8.self), let text = reader.readBytes(count: Int(length)) else { return nil }
            if item == cnameItem { chunk.cname = String(decoding: text, as: UTF8.self) }
        }
        return nil  // no zero byte ended the list
    }

    /// Appends the packet with its common header; names are cut after 255 bytes.
    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.sourceDescription, count: UInt8(chunks.count)) { body in
            for chunk in chunks {
                body.write(chunk.ssrc)
                let start = body.count
                if let cname = chunk.cname?.utf8.prefix(255) {
                    body.write(Self.cnameItem)
                    body.write(UInt8(cname.count))
                    body.write(contentsOf: cname)
                }
                repeat { body.write(UInt8(0)) } while (body.count - start) % 4 != 0
            }
        }
    }
}

/// BYE (RFC 3550 §6.6); the reason text is not read.
public struct Goodbye: Equatable, Sendable {
    /// At most 31.
    public var ssrcs: [UInt32]

    /// From the sources that leave.
    public init(ssrcs: [UInt32]) { self.ssrcs = ssrcs }

    init?(parsing reader: inout ByteReader, count: UInt8) {
        ssrcs = []
        for _ in 0..<count {
            guard let ssrc = reader.read(UInt32.self) else { return nil }
            ssrcs.append(ssrc)
        }
    }

    /// Appends the packet with its common header.
    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.goodbye, count: UInt8(ssrcs.count)) { body in
            for ssrc in ssrcs { body.write(ssrc) }
        }
    }
}
