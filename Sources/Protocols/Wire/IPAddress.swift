/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) is always kept as IPv4.
@frozen
public enum IPAddress: Hashable, Sendable {
    /// In host order: 192.0.2.1 is 0xC000_0201.
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

    /// 127.0.0.1.
    public static let loopback = IPAddress.v4(0x7F00_0001)
    /// 0.0.0.0.
    public static let anyV4 = IPAddress.v4(0)
    /// `::`.
    public static let anyV6 = IPAddress.v6(high: 0, low: 0, scope: 0)

    /// Whether it is an IPv4 address.
    public var isV4: Bool { if case .v4 = self { true } else { false } }

    /// 127.0.0.0/8 or `::1`.
    public var isLoopback: Bool {
        switch self {
        case .v4(let address): address >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }

    /// 0.0.0.0 or `::`.
    public var isUnspecified: Bool {
        switch self {
        case .v4(let address): address == 0
        case .v6(let high, let low, _): high == 0 && low == 0
        }
    }

    /// 224.0.0.0/4 or ff00::/8.
    public var isMulticast: Bool {
        switch self {
        case .v4(let address): address >> 28 == 0xE
        case .v6(let high, _, _): high >> 56 == 0xFF
        }
    }

    /// 169.254.0.0/16 or fe80::/10.
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
    /// `192.0.2.1`; IPv6 in the canonical text of RFC 5952, with its scope as `%2`.
    public var description: String {
        switch self {
        case .v4(let address): Self.text(address)
        case .v6(let high, let low, let scope): Self.text(high: high, low: low) + (scope == 0 ? "" : "%\(scope)")
        }
    }

    /// By bytes: to interpolate four numbers takes several times as long, and every log line of a connection has an address.
    private static func text(_ address: UInt32) -> String {
        let zero = UInt8(ascii: "0")
        var text: [UInt8] = []
        text.reserveCapacity(15)
        for shift in [24, 16, 8, 0] as [UInt32] {
            if shift < 24 { text.append(UInt8(ascii: ".")) }
            let byte = UInt8(truncatingIfNeeded: address >> shift)
            if byte >= 100 { text.append(zero + byte / 100) }
            if byte >= 10 { text.append(zero + byte / 10 % 10) }
            text.append(zero + byte % 10)
        }
        return String(decoding: text, as: UTF8.self)
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

extension IPAddress {
    /// Parses `192.0.2.1`, `2001:db8::1` or `::ffff:192.0.2.1`, without brackets or scope; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 45 else { return nil }
        if text.utf8.contains(UInt8(ascii: ":")) {
            guard let groups = Self.groups(of: Substring(text)) else { return nil }
            let high = groups[..<4].reduce(0) { $0 << 16 | UInt64($1) }
            let low = groups[4...].reduce(0) { $0 << 16 | UInt64($1) }
            self.init(v6High: high, low: low)
        } else {
            guard let address = Self.dotted(Substring(text)) else { return nil }
            self = .v4(address)
        }
    }

    private static func dotted(_ text: Substring) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }), let byte = UInt8(part)
            else { return nil }
            address = address << 8 | UInt32(byte)
        }
        return address
    }

    private static func groups(of text: Substring) -> [UInt16]? {
        guard let gap = text.firstRange(of: "::") else {
            guard let groups = plainGroups(text), groups.count == 8 else { return nil }
            return groups
        }
        guard let head = plainGroups(text[..<gap.lowerBound]), let tail = plainGroups(text[gap.upperBound...]),
            head.count + tail.count <= 7
        else { return nil }
        return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    private static func plainGroups(_ text: Substring) -> [UInt16]? {
        if text.isEmpty { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, let address = dotted(part) {
                groups += [UInt16(address >> 16), UInt16(truncatingIfNeeded: address)]
                continue
            }
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0.isHexDigit }), let group = UInt16(part, radix: 16)
            else { return nil }
            groups.append(group)
        }
        return groups
    }
}

extension Substring {
    fileprivate func firstRange(of mark: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(mark) { return start..<index(start, offsetBy: mark.count) }
            start = index(after: start)
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool { (48...57).contains(self) || (65...70).contains(self) || (97...102).contains(self) }
}

/// An address and a port: one end of a TCP connection or a UDP tuple.
@frozen
public struct SocketAddress: Hashable, Sendable {
    /// The host.
    public var ip: IPAddress
    /// In host order.
    public var port: UInt16

    /// From its parts.
    @inlinable
    public init(_ ip: IPAddress, port: UInt16) { (self.ip, self.port) = (ip, port) }

    /// Parses `192.0.2.1:80` or `[2001:db8::1]:80`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let text = Substring(text)
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard let ip = IPAddress(host) else { return nil }
        self.init(ip, port: port)
    }
}

extension SocketAddress: CustomStringConvertible {
    /// `192.0.2.1:80` or `[2001:db8::1]:80`.
    public var description: String {
        let host = ip.isV4 ? ip.description : "[\(ip)]"
        return host + ":" + String(port)
    }
}
