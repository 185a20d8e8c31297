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
