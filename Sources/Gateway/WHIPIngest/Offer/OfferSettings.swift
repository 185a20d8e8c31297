import MediaContract
import OpenSSL
import Wire

/// What of an offer an encoder's settings decide: the same settings give the same digest at every attempt.
///
/// Ports, credentials, fingerprints and ids are new each time and left out; codecs, profiles and layers count. SSRCs are new
/// each time too, but not OBS's: it draws them when it makes its output, keeps them when it reconnects by itself, and makes a
/// new output when the settings of its page "Output" are saved. Its offers show nothing else of bitrate, profile, B-frames and
/// keyframe interval: `profile-level-id` is 42e01f whatever is set.
enum OfferSettings {
    /// The first bytes of SHA-256 in hexadecimal.
    /// - Parameter userAgent: tells OBS.
    static func digest(of offer: [UInt8], by userAgent: String) -> String {
        let isOBS = EncoderFamily(product: userAgent) == .obs
        let lines = offer.split { $0 == 0x0D || $0 == 0x0A }.compactMap { line -> ArraySlice<UInt8>? in
            if kept.contains(where: { line.starts(with: $0) }) { return line }
            // Up to the name of an attribute, whose value is new each time.
            return isOBS && line.starts(with: source) ? line.prefix { $0 != UInt8(ascii: " ") } : nil
        }
        return String(hexadecimal: Digest.sha256(Array(lines.joined(separator: [0x0A]))).prefix(byteCount))
    }

    private static let byteCount = 8
    private static let kept = ["a=rtpmap:", "a=fmtp:", "a=rid:", "a=simulcast:", "a=sendonly", "a=sendrecv"].map {
        Array($0.utf8)
    }
    private static let source = Array("a=ssrc:".utf8)
}
