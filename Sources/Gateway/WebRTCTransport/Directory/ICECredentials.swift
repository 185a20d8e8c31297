import OpenSSL
import STUN
import Wire

/// Our side of one ICE session (RFC 8839 §5.4); an ICE restart makes new ones.
struct ICECredentials: Sendable, Equatable {
    var ufrag: LocalUfrag
    /// ASCII, 24 ice-chars: 144 bits.
    var password: [UInt8]
    /// The strong entity tag of this ICE session, with its quotes (RFC 9725 §4.3.1).
    var etag: String

    static func make(_ mint: UfragMint) -> ICECredentials {
        let random = Random.bytes(count: 34)
        let seed = random[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let tag = String(hexadecimal: random[8..<16])
        return ICECredentials(ufrag: mint.mint(random: seed), password: base64(Array(random[16...])), etag: "\"\(tag)\"")
    }

    /// Base64 of 18 bytes: 24 characters, all of them ice-chars.
    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        return stride(from: 0, to: bytes.count, by: 3).flatMap { index in
            let word = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
            return [18, 12, 6, 0].map { alphabet[word >> $0 & 63] }
        }
    }
}
