/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) is always kept as IPv4.
@frozen
public enum IPAddress: Hashable, Sendable {
    case v4(UInt32)
    /// High and low half in host order, and the scope (interface index) of link-local addresses.
    case v6(high: UInt64, low: UInt64, scope: UInt32)

    /// From the 16 bytes of an IPv6 address; an IPv4-mapped one becomes `.v4`.
    @inlinable
    public init(v6High high: UInt64, low: UInt64, scope: UInt32 = 0) {
        if high == 0, low >> 32 == 0xFFFF {
            self = .v4(UInt32(truncatingIfNeeded: low))
        } else {
            self = .v6(high: high, low: low, scope: scope)
        }
    }

    public static let loopback = IPAddress.v4(0x7F00_0001)
    public static let anyV4 = IPAddress.v4(0)
    public static let anyV6 = IPAddress.v6(high: 0, low: 0, scope: 0)

    public var isV4: Bool { if case .v4 = self { true } else { false } }

    public var isLoopback: Bool {
        switch self {
        case .v4(let address): address >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }

    public var isUnspecified: Bool {
        switch self {
        case .v4(let address): address == 0
        case .v6(let high, let low, _): high == 0 && low == 0
        }
    }

    public var isMulticast: Bool {
        switch self {
        case .v4(let address): address >> 28 == 0xE
        case .v6(let high, _, _): high >> 56 == 0xFF
        }
    }

    public var isLinkLocal: Bool {
        switch self {
        case .v4(let address): address >> 16 == 0xA9FE
        case .v6(let high, _, _): high >> 54 == 0x3FA
        }
    }

    /// RFC 1918, RFC 6598 and RFC 4193 ranges: unreachable from the Internet.
    public var isPrivate: Bool {
        switch self {
        case .v4(let a): a >> 24 == 10 || a >> 20 == 0xAC1 || a >> 16 == 0xC0A8 || a >> 22 == 0x191
        case .v6(let high, _, _): high >> 57 == 0x7E
        }
    }
}

extension IPAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .v4(let a): "\(a >> 24).\(a >> 16 & 255).\(a >> 8 & 255).\(a & 255)"
        case .v6(let high, let low, let scope): Self.text(high: high, low: low) + (scope == 0 ? "" : "%\(scope)")
        }
    }

    /// The canonical text of RFC 5952: lower case, the longest run of zero groups (two or more) as `::`.
    private static func text(high: UInt64, low: UInt64) -> String {
        let groups = (0..<8).map { index in
            UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - 16 * (index % 4)))
        }
        var best = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start > best.count { best = start..<end }
            start = end + 1
        }
        func join(_ part: ArraySlice<UInt16>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard best.count >= 2 else { return join(groups[...]) }
        return join(groups[..<best.lowerBound]) + "::" + join(groups[best.upperBound...])
    }
}

extension IPAddress {
    /// The customer: the host of IPv4, the /64 of IPv6.
    public var network: IPAddress {
        switch self {
        case .v4: self
        case .v6(let high, _, _): .v6(high: high, low: 0, scope: 0)
        }
    }
}
