public import SDP
public import Wire

/// Our side of an answer: credentials, certificate and the addresses we are reached at.
public struct LocalDescription: Sendable {
    /// `a=ice-ufrag` and `a=ice-pwd`, of this answer alone.
    public var ufrag: String
    public var password: String
    /// SHA-256 of the DTLS certificate.
    public var fingerprint: [UInt8]
    /// In the order in which clients try them (`CandidateList`).
    public var candidates: [Candidate]
    /// Random digits for `o=`.
    public var sessionID: UInt64

    /// The one that `c=` and `m=` name.
    public var primaryCandidate: Candidate? { candidates.first { $0.transport == .udp } ?? candidates.first }
}

extension PeerDescription {
    /// The answer to this peer's offer (RFC 9429 §5.3.1).
    /// - Parameter media: one section for each of the offer's, in its order, with everything but ICE and DTLS.
    public func answer(_ local: LocalDescription, media sections: [MediaDescription]) -> SessionDescription {
        var answer = SessionDescription(origin: Origin(sessionID: "\(local.sessionID >> 1)"))
        answer.attributes.append("ice-lite")
        if !bundleMids.isEmpty { answer.attributes.append(MediaGroup(semantics: "BUNDLE", mids: bundleMids)) }
        if allowsMixedExtensions { answer.attributes.append("extmap-allow-mixed") }
        if !iceOptions.isEmpty { answer.attributes.append("ice-options", iceOptions.joined(separator: " ")) }
        for var media in sections {
            // Repeated in every section, as browsers do: GStreamer and old libraries look for them there.
            media.attributes.append("ice-ufrag", local.ufrag)
            media.attributes.append("ice-pwd", local.password)
            media.attributes.append(Fingerprint(hashFunction: "sha-256", bytes: local.fingerprint))
            media.attributes.append("setup", isDTLSClient ? "active" : "passive")
            // Candidates stand in the tagged section alone (RFC 9143 §10.1).
            if media.mid == taggedMid {
                for candidate in local.candidates { media.attributes.append(candidate) }
                media.attributes.append("end-of-candidates")
            }
            answer.media.append(media)
        }
        return answer
    }
}

/// The candidates of every answer: where the media port is reached from outside.
public enum CandidateList {
    /// Host candidates of the given addresses, UDP before TCP and IPv4 before IPv6: ffmpeg takes the first one and no other. So
    /// those that lead to this machine alone come last.
    /// - Parameters:
    ///   - addresses: what clients reach, in the operator's order; each with the port they send to.
    ///   - tcp: the same for ICE-TCP.
    public static func make(_ addresses: [SocketAddress], tcp: [SocketAddress]) -> [Candidate] {
        let udp = ordered(addresses).enumerated().map { index, address in
            Candidate(
                foundation: "\(index + 1)", transport: .udp,
                priority: Candidate.priority(typePreference: 126, localPreference: UInt32(65_535 - index)), address: address)
        }
        return udp
            + ordered(tcp).enumerated().map { index, address in
                // RFC 6544 §4.2: host candidates over TCP rank below UDP; direction preference 4 for passive.
                Candidate(
                    foundation: "\(index + 1 + udp.count)", transport: .tcp,
                    priority: Candidate.priority(typePreference: 90, localPreference: 4 << 13 | UInt32(8_191 - index)),
                    address: address, tcpType: "passive")
            }
    }

    private static func ordered(_ addresses: [SocketAddress]) -> [SocketAddress] {
        [false, true].flatMap { (isLoopback: Bool) -> [SocketAddress] in
            let alike = addresses.filter { $0.ip.isLoopback == isLoopback }
            return alike.filter(\.ip.isV4) + alike.filter { !$0.ip.isV4 }
        }
    }
}
