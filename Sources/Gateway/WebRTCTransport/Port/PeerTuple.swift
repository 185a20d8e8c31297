import STUN
import Wire

/// One validated tuple on one worker: a check with the password of `entry` came from it (DESIGN 4).
final class PeerTuple {
    /// The session that last authenticated here.
    var entry: any TransportEntry
    /// The session itself when this worker owns it; the port forgets the tuple when the session ends.
    var session: PeerTransport?
    var path: MediaPath
    /// What the last check was verified with, so that the next one needs no directory.
    var ufrag: LocalUfrag
    var password: [UInt8]
    var lastCheck: MonotonicTime

    init(entry: any TransportEntry, path: MediaPath, ufrag: LocalUfrag, password: [UInt8], now: MonotonicTime) {
        (self.entry, self.path, self.ufrag, self.password, lastCheck) = (entry, path, ufrag, password, now)
    }
}

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
    var isClientHello: Bool { count >= 14 && self[0] == 22 && self[13] == 1 }
    /// RTCP in place of RTP (RFC 5761 §4).
    var isRTCP: Bool { count >= 2 && (192...223).contains(self[1]) }
    /// The source that an RTP or RTCP packet names.
    var ssrc: UInt32? {
        let offset = isRTCP ? 4 : 8
        guard count >= offset + 4 else { return nil }
        return UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
