public import SDP
public import Wire

/// The candidates of every answer: where the media port is reached from outside.
public enum CandidateList {
    /// Host candidates of the given addresses, UDP before TCP and IPv4 before IPv6: ffmpeg takes the first one and no other.
    /// - Parameter addresses: what clients reach, in the operator's order; each with the port they send to.
    /// - Parameter tcpPort: the port of ICE-TCP; nil leaves it out.
    public static func make(_ addresses: [SocketAddress], tcpPort: UInt16?) -> [Candidate] {
        let ordered = addresses.filter(\.ip.isV4) + addresses.filter { !$0.ip.isV4 }
        let udp = ordered.enumerated().map { index, address in
            Candidate(
                foundation: "\(index + 1)", transport: .udp,
                priority: Candidate.priority(typePreference: 126, localPreference: UInt32(65_535 - index)), address: address)
        }
        guard let tcpPort else { return udp }
        return udp
            + ordered.enumerated().map { index, address in
                // RFC 6544 §4.2: host candidates over TCP rank below UDP; direction preference 4 for passive.
                Candidate(
                    foundation: "\(index + 1 + ordered.count)", transport: .tcp,
                    priority: Candidate.priority(typePreference: 90, localPreference: 4 << 13 | UInt32(8_191 - index)),
                    address: SocketAddress(address.ip, port: tcpPort), tcpType: "passive")
            }
    }
}
