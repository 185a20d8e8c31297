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
        // Base64 of 18 bytes needs no padding, and its whole alphabet is ice-chars.
        let password = Base64.standard.encode(random[16...])
        return ICECredentials(ufrag: mint.mint(random: seed), password: password, etag: "\"\(tag)\"")
    }
}
