public import Wire

/// How many connections each address has of those that it may have.
public struct AddressShares: Sendable {
    private var counts: [IPNetwork: Int] = [:]

    /// Nobody has any.
    public init() {}

    /// Counts one more connection unless the address has its share.
    public mutating func take(_ address: IPAddress, limit: Int) -> Bool {
        let unit = IPNetwork(countingUnit: address)
        guard counts[unit, default: 0] < limit else { return false }
        counts[unit, default: 0] += 1
        return true
    }

    /// A connection that was counted is gone, or counts no longer.
    public mutating func giveBack(_ address: IPAddress) {
        let unit = IPNetwork(countingUnit: address)
        guard let count = counts[unit] else { return }
        counts[unit] = count == 1 ? nil : count - 1
    }
}
