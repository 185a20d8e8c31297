import Wire

/// How many connections each address has, and who may have more.
struct ConnectionLimits {
    /// An address that has shown a good credential may have that many times more: a hall with a hundred encoders is one address.
    static let trustFactor = 10
    static let trustDuration = Duration.seconds(3600)
    /// Addresses that are remembered as trusted; beyond it those whose time is over are forgotten.
    static let maximumTrusted = 4096

    private var counts: [IPNetwork: Int] = [:]
    private var trustedUntil: [IPNetwork: MonotonicTime] = [:]

    /// Counts one more connection unless the address has its share.
    mutating func admit(_ address: IPAddress, limit: Int, at now: MonotonicTime) -> Bool {
        let unit = IPNetwork(countingUnit: address)
        let isTrusted = trustedUntil[unit].map { $0 > now } ?? false
        guard counts[unit, default: 0] < limit * (isTrusted ? Self.trustFactor : 1) else { return false }
        counts[unit, default: 0] += 1
        return true
    }

    mutating func release(_ address: IPAddress) {
        let unit = IPNetwork(countingUnit: address)
        guard let count = counts[unit] else { return }
        counts[unit] = count == 1 ? nil : count - 1
    }

    mutating func trust(_ address: IPAddress, at now: MonotonicTime) {
        if trustedUntil.count >= Self.maximumTrusted { trustedUntil = trustedUntil.filter { $0.value > now } }
        guard trustedUntil.count < Self.maximumTrusted else { return }
        trustedUntil[IPNetwork(countingUnit: address)] = now + Self.trustDuration
    }
}
