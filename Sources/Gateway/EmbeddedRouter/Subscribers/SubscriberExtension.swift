import RTP

/// The header extension of one track's packets toward one subscriber: elements with one-byte headers (RFC 8285 §4.2), the
/// transport-wide number and MID, as far as the offer has them.
@safe struct SubscriberExtension {
    /// Empty without elements.
    private let bytes: [UInt8]
    let hasTransportNumber: Bool

    init(_ section: SubscriberSection) {
        var elements: [(id: UInt8, value: [UInt8])] = []
        if let id = section.transportWideExtension { elements.append((id, [0, 0])) }
        if let id = section.midExtension, !section.mid.isEmpty { elements.append((id, Array(section.mid.utf8))) }
        bytes = HeaderExtensions.oneByte(elements)
        hasTransportNumber = section.transportWideExtension != nil
    }

    var byteCount: Int { bytes.count }

    func write(number: UInt16, into buffer: UnsafeMutableRawBufferPointer) {
        unsafe buffer.copyBytes(from: bytes)
        if hasTransportNumber { unsafe buffer.storeBytes(of: number.bigEndian, toByteOffset: Self.numberOffset, as: UInt16.self) }
    }

    /// Behind the extension's header and the element's own.
    private static let numberOffset = 5
}
