/// A range of addresses with a common prefix, `192.0.2.0/24` (RFC 4632 §3.1, RFC 4291 §2.3).
public struct IPNetwork: Hashable, Sendable {
    /// The first one, bits behind the prefix cleared.
    public let address: IPAddress
    /// Bits that count: 0 to 32 for IPv4, 0 to 128 for IPv6.
    public let prefixLength: Int

    /// The network around `address`; bits behind the prefix are cleared. Nil when the length does not fit the family.
    public init?(_ address: IPAddress, prefixLength: Int) {
        guard (0...(address.isV4 ? 32 : 128)).contains(prefixLength) else { return nil }
        (self.address, self.prefixLength) = (address.masked(to: prefixLength), prefixLength)
    }

    /// Parses `192.0.2.0/24`, `2001:db8::/32` or a single address; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let ip = IPAddress(parts[0]) else { return nil }
        guard parts.count == 2 else {
            self.init(ip, prefixLength: ip.isV4 ? 32 : 128)
            return
        }
        guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
            let length = Int(parts[1])
        else { return nil }
        self.init(ip, prefixLength: length)
    }

    /// The network by which limits count clients: an IPv4 address alone, or the /64 that one IPv6 customer owns.
    public init(countingUnit address: IPAddress) {
        self.prefixLength = address.isV4 ? 32 : 64
        self.address = address.masked(to: prefixLength)
    }

    /// Whether the address is of the same family and has the prefix.
    public func contains(_ other: IPAddress) -> Bool {
        other.isV4 == address.isV4 && other.masked(to: prefixLength) == address
    }
}

extension IPNetwork: CustomStringConvertible {
    /// `192.0.2.0/24`.
    public var description: String { "\(address)/\(prefixLength)" }
}

extension IPAddress {
    fileprivate func masked(to prefixLength: Int) -> IPAddress {
        switch self {
        case .v4(let address):
            return .v4(prefixLength == 0 ? 0 : address & (.max << UInt32(32 - prefixLength)))
        case .v6(let high, let low, _):
            let highMask: UInt64 = prefixLength == 0 ? 0 : .max << UInt64(max(0, 64 - prefixLength))
            let lowMask: UInt64 = prefixLength <= 64 ? 0 : .max << UInt64(128 - prefixLength)
            return .v6(high: high & highMask, low: low & lowMask, scope: 0)
        }
    }
}
