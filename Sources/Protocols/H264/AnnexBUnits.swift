/// The NAL units of a byte stream with start codes (annex B). The units lie in the given bytes and live as long as those.
@frozen
public struct AnnexBUnits: IteratorProtocol, Sequence {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    /// Where the next unit begins; nil when no start code is left.
    @usableFromInline var start: Int?

    @inlinable
    public init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        start = Self.startCode(in: bytes, from: 0).map { $0 + 3 }
    }

    /// The next unit that is not empty, its header byte first and trailing zero bytes left out; nil at the end.
    @inlinable
    public mutating func next() -> UnsafeRawBufferPointer? {
        while let begin = start {
            let code = Self.startCode(in: bytes, from: begin)
            var end = code ?? bytes.count
            while end > begin, bytes[end - 1] == 0 { end -= 1 }
            start = code.map { $0 + 3 }
            if end > begin { return UnsafeRawBufferPointer(rebasing: bytes[begin..<end]) }
        }
        return nil
    }

    /// Where `00 00 01` stands at or after `start`.
    @inlinable
    static func startCode(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        while index + 3 <= bytes.count {
            if bytes[index + 2] > 1 {
                index += 3
            } else if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
                return index
            } else {
                index += 1
            }
        }
        return nil
    }
}
