import OpenSSL
import Wire

/// What of an offer an encoder's settings decide: the same settings give the same digest at every attempt.
///
/// Ports, credentials, fingerprints, SSRCs and ids are new each time and left out; codecs, profiles and layers count.
enum OfferSettings {
    /// The first bytes of SHA-256 in hexadecimal.
    static func digest(of offer: [UInt8]) -> String {
        let lines = offer.split { $0 == 0x0D || $0 == 0x0A }.filter { line in
            kept.contains { line.starts(with: $0) }
        }
        return String(hexadecimal: Digest.sha256(Array(lines.joined(separator: [0x0A]))).prefix(byteCount))
    }

    private static let byteCount = 8
    private static let kept = ["a=rtpmap:", "a=fmtp:", "a=rid:", "a=simulcast:", "a=sendonly", "a=sendrecv"].map {
        Array($0.utf8)
    }
}
