import DTLS
import SDP
import Wire

/// What a publisher needs of a WHIP server's answer.
struct WHIPServerDescription {
    /// UDP candidates of one address family, in the answer's order; IPv4 where there are any.
    let candidates: [SocketAddress]
    let ufrag: String
    let password: [UInt8]
    let fingerprints: [CertificateFingerprint]
    /// The server opens the DTLS connection.
    let isServerActive: Bool

    /// A real answer has up to a dozen.
    static let maximumCandidates = 16

    /// Nil when the answer lacks what a connection needs; attributes of the session level count for every section.
    init?(parsing body: [UInt8]) {
        guard let answer = try? SessionDescription(parsing: body), let section = answer.media.first else { return nil }
        let attributes = section.attributes + answer.attributes
        guard let ufrag = attributes.value(of: "ice-ufrag"), let password = attributes.value(of: "ice-pwd") else { return nil }
        let addresses = answer.media.flatMap { $0.attributes.all(Candidate.self) }
            .filter { $0.transport == .udp && $0.component == 1 }.compactMap(\.address)
        let preferred = addresses.filter(\.ip.isV4)
        candidates = Array((preferred.isEmpty ? addresses : preferred).prefix(Self.maximumCandidates))
        (self.ufrag, self.password) = (ufrag, Array(password.utf8))
        fingerprints = attributes.all(Fingerprint.self).map {
            CertificateFingerprint(hash: $0.hashFunction, bytes: $0.bytes)
        }
        isServerActive = attributes.value(of: "setup") == SetupRole.active.rawValue
        guard !candidates.isEmpty, !fingerprints.isEmpty else { return nil }
    }
}
