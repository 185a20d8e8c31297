/// The header extension of one track's packets toward one subscriber: elements with one-byte headers (RFC 8285 §4.2), MID and the
/// transport-wide number, as far as the offer has them.
@safe struct SubscriberExtension {
    /// What stands before the elements, the elements, padding to words; empty without any.
    private let bytes: [UInt8]
    /// Where the number stands in `bytes`.
    private let numberOffset: Int?

    init(_ section: SubscriberSection) {
        var elements: [UInt8] = []
        if let id = section.midExtension, !section.mid.isEmpty {
            elements += [id << 4 | UInt8(section.mid.utf8.count - 1)] + Array(section.mid.utf8)
        }
        numberOffset = section.transportWideExtension.map { _ in Self.headerByteCount + elements.count + 1 }
        if let id = section.transportWideExtension { elements += [id << 4 | 1, 0, 0] }
        while elements.count % 4 != 0 { elements.append(0) }
        bytes = elements.isEmpty ? [] : [0xBE, 0xDE, 0, UInt8(elements.count / 4)] + elements
    }

    var byteCount: Int { bytes.count }
    var hasTransportNumber: Bool { numberOffset != nil }

    func write(number: UInt16, into buffer: UnsafeMutableRawBufferPointer) {
        unsafe buffer.copyBytes(from: bytes)
        if let numberOffset { unsafe buffer.storeBytes(of: number.bigEndian, toByteOffset: numberOffset, as: UInt16.self) }
    }

    private static let headerByteCount = 4
}
