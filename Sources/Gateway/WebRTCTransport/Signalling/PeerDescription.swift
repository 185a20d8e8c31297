public import DTLS
public import Refusals
public import SDP

/// The peer's side of ICE and DTLS as its offer tells it, the same for who publishes and who subscribes.
public struct PeerDescription: Sendable, Equatable {
    /// True when we open the DTLS connection, because the offer says `setup:passive` (ffmpeg).
    public var isDTLSClient: Bool
    /// Of the peer's certificate: one that fits is enough (RFC 8122 §5.1).
    public var fingerprints: [CertificateFingerprint]
    /// `ice2`, `trickle`: the offered options, which the answer repeats.
    public var iceOptions: [String]
    /// The tagged section's `a=ice-ufrag`, or the session's; a PATCH with another one, which is not ours either, is a restart.
    public var ufrag: String
    /// The mids of the BUNDLE group; empty for a single section without one.
    public var bundleMids: [String]
    /// Of the section in which candidates stand: the first of the group.
    public var taggedMid: String
    /// Header extensions of one and two bytes may stand in one stream (RFC 8285 §6); the answer repeats it.
    public var allowsMixedExtensions: Bool
}

extension PeerDescription {
    /// Reads the peer's side of an offer with at least one m-line.
    /// - Parameter bundleMids: what `bundle(of:)` answered.
    public init(negotiating offer: SessionDescription, bundleMids: [String]) throws(Refusal) {
        self.bundleMids = bundleMids
        taggedMid = bundleMids.first ?? offer.media[0].mid ?? ""
        let tagged = Self.section(taggedMid, of: offer)
        isDTLSClient = try Self.isDTLSClient(offer, tagged)
        fingerprints = try Self.fingerprints(of: offer, tagged)
        ufrag = try Self.ufrag(of: offer, tagged)
        iceOptions = Self.iceOptions(of: offer, tagged)
        allowsMixedExtensions =
            offer.attributes.contains("extmap-allow-mixed")
            || offer.media.allSatisfy { $0.attributes.contains("extmap-allow-mixed") }
    }

    /// The mids of the BUNDLE group, which must hold every m-line (RFC 9143, RFC 9725 §4.4.1).
    public static func bundle(of offer: SessionDescription) throws(Refusal) -> [String] {
        let mids = offer.media.compactMap(\.mid)
        guard mids.count == offer.media.count, Set(mids).count == mids.count else {
            throw malformed("Each m-line of the offer must have an a=mid of its own.")
        }
        let group = offer.attributes.all(MediaGroup.self).first { $0.semantics == "BUNDLE" }
        guard let group else {
            // A single section has nothing to be bundled with.
            guard mids.count == 1 else { throw Refusal(.notBundled) }
            return []
        }
        guard Set(mids).isSubset(of: group.mids) else { throw Refusal(.notBundled) }
        // ffmpeg 8 names the m-line of sound also where it sends pictures alone.
        let present = group.mids.filter(mids.contains)
        guard present.count == mids.count else { throw malformed("The BUNDLE group names an m-line twice.") }
        return present
    }

    /// The tagged section speaks for the whole bundle; bundle-only ones say nothing of ICE and DTLS (RFC 9143 §7.1.3).
    private static func section(_ taggedMid: String, of offer: SessionDescription) -> MediaDescription {
        offer.media.first { $0.mid == taggedMid } ?? offer.media[0]
    }

    /// RFC 8842 §5.2. `actpass` and `active` make us server, `passive`, which RFC 9725 does not expect, client.
    private static func isDTLSClient(_ offer: SessionDescription, _ tagged: MediaDescription) throws(Refusal) -> Bool {
        switch (tagged.attributes.value(of: "setup") ?? offer.attributes.value(of: "setup")).map(SetupRole.init(rawValue:)) {
        case .actpass, .active, .none: return false
        case .passive: return true
        case .holdconn, .some(nil): throw Refusal(.unsupportedSetup)
        }
    }

    private static func fingerprints(
        of offer: SessionDescription, _ tagged: MediaDescription
    ) throws(Refusal) -> [CertificateFingerprint] {
        var found: [Fingerprint]
        do throws(SDPError) {
            found = try tagged.attributes.strictly(Fingerprint.self)
            if found.isEmpty { found = try offer.attributes.strictly(Fingerprint.self) }
        } catch { throw malformed("An a=fingerprint of the offer is malformed.") }
        let usable = found.filter { CertificateFingerprint.byteCounts[$0.hashFunction] == $0.bytes.count }
        guard !usable.isEmpty else { throw malformed("The offer has no a=fingerprint with sha-256, sha-384 or sha-512.") }
        return usable.prefix(maximumFingerprints).map { CertificateFingerprint(hash: $0.hashFunction, bytes: $0.bytes) }
    }

    private static func ufrag(of offer: SessionDescription, _ tagged: MediaDescription) throws(Refusal) -> String {
        guard let ufrag = tagged.attributes.value(of: "ice-ufrag") ?? offer.attributes.value(of: "ice-ufrag"),
            let password = tagged.attributes.value(of: "ice-pwd") ?? offer.attributes.value(of: "ice-pwd"),
            areCredentials(ufrag, password)
        else { throw malformed("The offer has no a=ice-ufrag (4 to 256 characters) or a=ice-pwd (22 to 256 characters).") }
        return ufrag
    }

    /// Whether these have the lengths of RFC 8839 §5.4.
    static func areCredentials(_ ufrag: String, _ password: String) -> Bool {
        (4...256).contains(ufrag.utf8.count) && (22...256).contains(password.utf8.count)
    }

    /// libdatachannel writes `ice2,trickle`, all others separate them by spaces.
    private static func iceOptions(of offer: SessionDescription, _ tagged: MediaDescription) -> [String] {
        let text = offer.attributes.value(of: "ice-options") ?? tagged.attributes.value(of: "ice-options") ?? ""
        let offered = text.split(whereSeparator: { $0 == " " || $0 == "," })
        return ["ice2", "trickle"].filter { offered.contains(Substring($0)) }
    }

    /// aiortc writes three, one per hash.
    private static let maximumFingerprints = 8
}

/// Refuses an offer as malformed (400): the sentence says what is wrong with it.
public func malformed(_ sentence: String) -> Refusal { Refusal(.malformedOffer, sentence: sentence) }
