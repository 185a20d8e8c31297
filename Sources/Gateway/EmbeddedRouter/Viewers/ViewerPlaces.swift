import Wire

/// The places of viewers: bounded as a whole, and so that no stage, address or token has all of them. Sans-IO.
///
/// Where a token has its share, its newest viewer displaces its oldest that may make way. Where another bound is reached, the
/// token that has most there gives one up, if it still has no less than the newcomer's afterwards.
struct ViewerPlaces {
    struct Limits: Sendable, Equatable {
        var total: Int
        var perStage: Int
        /// An IPv4 host or an IPv6 /64. Loopback is a proxy in front of us, or ourselves, and not counted.
        var perAddress: Int
        var perToken: Int
    }

    /// The bound that keeps a viewer out.
    enum Bound: CaseIterable { case token, address, stage, total }

    struct Place {
        var number: UInt64
        /// SHA-256 of the bearer token.
        var token: [UInt8]
        var address: IPAddress
        var stageID: String
        /// Whether it may be displaced: a WHEP session until it is connected, a watch page always, since whoever opens it again
        /// and again looks at the newest one.
        var makesWay = true
    }

    private let limits: Limits
    /// Oldest first.
    private(set) var places: [Place] = []

    init(_ limits: Limits) { self.limits = limits }

    /// Gives the newcomer a place.
    /// - Returns: the numbers of those that made way.
    /// - Throws: the bound that is reached; then nobody has made way.
    mutating func take(_ newcomer: Place) throws(Full) -> [UInt64] {
        var (left, displaced) = (places, [UInt64]())
        for bound in Bound.allCases where !(bound == .address && newcomer.address.isLoopback) {
            while case let rivals = left.filter({ Self.share(bound, $0, newcomer) }), rivals.count >= limit(of: bound) {
                guard let victim = Self.victim(among: rivals, for: newcomer, bound) else { throw Full(bound: bound) }
                left.removeAll { $0.number == victim }
                displaced.append(victim)
            }
        }
        places = left + [newcomer]
        return displaced
    }

    struct Full: Error { var bound: Bound }

    /// A viewer is connected: it makes way for nobody.
    mutating func settle(_ number: UInt64) {
        if let index = places.firstIndex(where: { $0.number == number }) { places[index].makesWay = false }
    }

    /// - Returns: false when it had made way before.
    mutating func leave(_ number: UInt64) -> Bool {
        guard let index = places.firstIndex(where: { $0.number == number }) else { return false }
        places.remove(at: index)
        return true
    }

    private func limit(of bound: Bound) -> Int {
        switch bound {
        case .token: min(limits.perToken, limits.total)
        case .address: limits.perAddress
        case .stage: limits.perStage
        case .total: limits.total
        }
    }

    /// Whether two viewers count together under the bound.
    private static func share(_ bound: Bound, _ one: Place, _ other: Place) -> Bool {
        switch bound {
        case .token: one.token == other.token
        case .address: one.address.network == other.address.network
        case .stage: one.stageID == other.stageID
        case .total: true
        }
    }

    private static func victim(among rivals: [Place], for newcomer: Place, _ bound: Bound) -> UInt64? {
        let counts = rivals.reduce(into: [[UInt8]: Int]()) { $0[$1.token, default: 0] += 1 }
        let least = bound == .token ? 0 : counts[newcomer.token, default: 0] + 2
        let candidates = rivals.filter { $0.makesWay && counts[$0.token, default: 0] >= least }
        let most = candidates.map { counts[$0.token, default: 0] }.max()
        return candidates.first { counts[$0.token] == most }?.number
    }
}
