import Wire

/// How many connections each address has of those that it may have.
struct AddressShares {
    private var counts: [IPNetwork: Int] = [:]

    /// Counts one more connection unless the address has its share.
    mutating func take(_ address: IPAddress, limit: Int) -> Bool {
        let unit = IPNetwork(countingUnit: address)
        guard counts[unit, default: 0] < limit else { return false }
        counts[unit, default: 0] += 1
        return true
    }

    mutating func giveBack(_ address: IPAddress) {
        let unit = IPNetwork(countingUnit: address)
        guard let count = counts[unit] else { return }
        counts[unit] = count == 1 ? nil : count - 1
    }
}
