public import Wire

/// A limit on requests per source, for each public endpoint of each worker (RFC 9725 §5): 200 in a burst, 50 a second after that,
/// so that a venue of encoders behind one address gets in; IPv6 counts by /64.
public struct RequestRates {
    /// Full again after as long as it takes to fill an empty one, an allowance is worth no memory from then on.
    private var allowances = FadingTable<IPAddress, Allowance>(maximumCount: maximumSources, lifetime: interval * burst)

    public init() {}

    /// Takes one request's share.
    /// - Returns: false where the source has none left.
    public mutating func allows(_ address: IPAddress, now: MonotonicTime) -> Bool {
        let key = address.network
        var allowance = allowances.value(of: key, at: now) ?? Allowance(Self.burst, then: Self.interval)
        defer { allowances.set(allowance, for: key, at: now) }
        return allowance.take(at: now)
    }

    /// What `allows` took turned out to be no stranger's.
    public mutating func giveBack(to address: IPAddress, now: MonotonicTime) {
        let key = address.network
        guard var allowance = allowances.value(of: key, at: now) else { return }
        allowance.giveBack()
        allowances.set(allowance, for: key, at: now)
    }

    /// Sources remembered now.
    public mutating func sourceCount(at now: MonotonicTime) -> Int { allowances.count(at: now) }

    private static let burst = 200
    private static let interval = Duration.milliseconds(20)
    /// A newcomer beyond them is counted too; those that came longest ago are forgotten.
    public static let maximumSources = 8_192
}
