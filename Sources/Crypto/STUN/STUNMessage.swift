/// What a pre-check finds in a STUN message (RFC 8489 §5, §14) before libnice sees it.
///
/// libnice 0.1.21 trusts attribute lengths where it looks for MESSAGE-INTEGRITY; nothing that fails this walk may reach it.
public struct STUNMessage: Equatable, Sendable {
    /// RFC 8489 §5.
    public enum Class: UInt8, Sendable { case request, indication, success, error }

    /// By the two class bits of the type.
    public var messageClass: Class
    /// 1 is Binding.
    public var method: UInt16
    /// The first eight bytes of USERNAME when a colon follows them: the form of all ufrags we hand out.
    public var localUfrag: LocalUfrag?
    /// Where the USERNAME value lies.
    public var usernameRange: Range<Int>?
    /// USE-CANDIDATE is there: the pair is nominated (RFC 8445 §7.1.2).
    public var useCandidate = false
    /// MESSAGE-INTEGRITY is there, not yet verified.
    public var hasIntegrity = false
    /// FINGERPRINT is there, not yet verified.
    public var hasFingerprint = false

    /// Walks the attributes of one datagram; nil when anything is out of place.
    public init?(preChecking datagram: UnsafeRawBufferPointer) {
        guard datagram.count >= 20, datagram.count <= Self.maximumByteCount, unsafe datagram[0] & 0xC0 == 0,
            unsafe Self.word(datagram, 4) == 0x2112, unsafe Self.word(datagram, 6) == 0xA442,
            unsafe Int(Self.word(datagram, 2)) == datagram.count - 20, datagram.count % 4 == 0
        else { return nil }
        let type = unsafe Self.word(datagram, 0)
        // RFC 8489 §5: the class bits lie between the method's.
        messageClass = Class(rawValue: UInt8(type >> 7 & 2 | type >> 4 & 1)) ?? .request
        method = type & 0xF | type >> 1 & 0x70 | type >> 2 & 0xF80
        guard unsafe walk(datagram) else { return nil }
    }

    private mutating func walk(_ datagram: UnsafeRawBufferPointer) -> Bool {
        var offset = 20
        var count = 0
        while offset < datagram.count {
            count += 1
            guard datagram.count - offset >= 4, count <= Self.maximumAttributeCount else { return false }
            let type = unsafe Self.word(datagram, offset)
            let length = unsafe Int(Self.word(datagram, offset + 2))
            let end = offset + 4 + (length + 3) & ~3
            guard end <= datagram.count else { return false }
            // Nothing follows FINGERPRINT, and only FINGERPRINT follows MESSAGE-INTEGRITY (RFC 8489 §14.5, §14.7).
            if hasFingerprint || hasIntegrity && type != 0x8028 { return false }
            guard unsafe note(type, datagram, offset + 4, length) else { return false }
            offset = end
        }
        return true
    }

    private mutating func note(_ type: UInt16, _ datagram: UnsafeRawBufferPointer, _ start: Int, _ length: Int) -> Bool {
        switch type {
        case 0x0006:  // USERNAME
            guard length <= 513, usernameRange == nil else { return false }
            usernameRange = start..<(start + length)
            if length > 8, unsafe datagram[start + 8] == UInt8(ascii: ":") {
                localUfrag = unsafe LocalUfrag(packed: datagram.loadUnaligned(fromByteOffset: start, as: UInt64.self).bigEndian)
            }
        case 0x0008:  // MESSAGE-INTEGRITY
            guard length == 20 else { return false }
            hasIntegrity = true
        case 0x8028:  // FINGERPRINT
            guard length == 4 else { return false }
            hasFingerprint = true
        case 0x0024:  // PRIORITY
            guard length == 4 else { return false }
        case 0x0025:  // USE-CANDIDATE
            guard length == 0 else { return false }
            useCandidate = true
        case 0x8029, 0x802A:  // ICE-CONTROLLED, ICE-CONTROLLING
            guard length == 8 else { return false }
        default: break
        }
        return true
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt16 {
        unsafe UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// A connectivity check, if the rest fits.
    public var isBindingRequest: Bool { messageClass == .request && method == 1 }

    /// Larger than any check; what is longer is no STUN we take part in.
    static let maximumByteCount = 1_500
    /// A check carries 6 to 9.
    static let maximumAttributeCount = 24
}
