/// What a datagram is, by its first byte (RFC 7983 §7, RFC 5764 §5.1.2).
enum DatagramKind {
    case stun, dtls, media, other

    init(firstByte: UInt8) {
        switch firstByte {
        case 0...3: self = .stun
        case 20...63: self = .dtls
        case 128...191: self = .media
        default: self = .other
        }
    }
}

extension UnsafeRawBufferPointer {
    /// A DTLS handshake record that begins with a ClientHello (RFC 6347 §4.1, §4.2.2).
    var isClientHello: Bool { unsafe count >= 14 && self[0] == 22 && self[13] == 1 }
    /// RTCP in place of RTP (RFC 5761 §4).
    var isRTCP: Bool { unsafe count >= 2 && (192...223).contains(self[1]) }
    /// The source that an RTP or RTCP packet names.
    var ssrc: UInt32? {
        let offset = unsafe isRTCP ? 4 : 8
        guard count >= offset + 4 else { return nil }
        return unsafe UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
