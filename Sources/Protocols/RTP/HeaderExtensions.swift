public import Wire

/// Where a packet's header extension elements lie (RFC 8285 §4): looked up by their negotiated id, never copied.
@frozen
public struct HeaderExtensions: Equatable, Sendable {
    /// 0xBEDE for one-byte headers, 0x1000 to 0x100F for two-byte headers; anything else holds no elements we know.
    public var profile: UInt16
    /// Where the elements start in the packet.
    public var offset: Int
    /// Whole words, without the extension's own header.
    public var byteCount: Int

    /// RFC 8285 §4.2.
    public static let oneByteProfile: UInt16 = 0xBEDE
    /// RFC 8285 §4.3; the low four bits are the application's.
    public static let twoByteProfile: UInt16 = 0x1000

    /// From its parts.
    @inlinable
    public init(profile: UInt16, offset: Int, byteCount: Int) {
        (self.profile, self.offset, self.byteCount) = (profile, offset, byteCount)
    }

    /// Where the data of element `id` lies in `packet`, the one these were parsed from; nil when it is absent.
    ///
    /// An element that runs over the end counts as absent, with all that would follow: RFC 8285 §4.1.2 has receivers ignore them.
    @inlinable
    public func range(of id: UInt8, in packet: RawSpan) -> Range<Int>? {
        var found: Range<Int>?
        try? forEach(in: packet) { element, range in if element == id, found == nil { found = range } }
        return found
    }

    /// Calls `body` with the id and place of each element, in order; padding is skipped.
    /// - Throws: `.invalidExtension` when an element runs over the end; those before it have been reported.
    @inlinable
    public func forEach(in packet: RawSpan, _ body: (UInt8, Range<Int>) -> Void) throws(RTPError) {
        let isOneByte = profile == Self.oneByteProfile
        guard isOneByte || profile & 0xFFF0 == Self.twoByteProfile else { return }
        guard offset >= 0, byteCount >= 0, offset + byteCount <= packet.byteCount else { throw .invalidExtension }
        var reader = ByteReader(packet.extracting(offset..<(offset + byteCount)))
        while let first = reader.read(UInt8.self) {
            if first == 0 { continue }  // padding is the byte 0 in both forms
            let id = isOneByte ? first >> 4 : first
            var count = Int(first & 0x0F) + 1
            if isOneByte {
                if id == 15 { return }  // reserved: the rest of the extension is to be ignored
            } else {
                guard let length = reader.read(UInt8.self) else { throw .invalidExtension }
                count = Int(length)
            }
            let start = offset + reader.offset
            guard reader.skip(count) else { throw .invalidExtension }
            if id != 0 { body(id, start..<(start + count)) }
        }
    }

    /// An extension of one-byte elements, from its own header on, padded to whole words; empty without elements.
    /// - Parameter elements: identifiers of 1 to 14, values of 1 to 16 bytes.
    public static func oneByte(_ elements: [(id: UInt8, value: [UInt8])]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (id, value) in elements {
            precondition(1...14 ~= id && 1...16 ~= value.count, "four bits each")
            bytes += [id << 4 | UInt8(value.count - 1)] + value
        }
        guard !bytes.isEmpty else { return [] }
        while bytes.count % 4 != 0 { bytes.append(0) }
        return [0xBE, 0xDE, 0, UInt8(bytes.count / 4)] + bytes
    }
}
