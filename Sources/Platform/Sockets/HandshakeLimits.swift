public import Wire

/// How many handshakes one address may begin: 10 a second, 20 at once. Sans-IO.
///
/// An address is an IPv4 host or an IPv6 /64, which is what one customer gets. Loopback is not limited: there it is the proxy
/// in front of us, or ourselves.
public struct HandshakeLimits: Sendable {
    public var perSecond: Double = 10
    public var atOnce = 20
    /// Addresses that are known to work (an encoder behind it has published) get that many times more.
    public static let trustFactor = 10.0
    /// Addresses remembered; beyond that the ones that have nothing under way are forgotten.
    public static let maximumSources = 16_384

    private struct Source {
        var tokens: Double
        var updated: MonotonicTime
        var underWay = 0
        var trustedUntil = MonotonicTime.zero
    }

    private var sources: [IPAddress: Source] = [:]

    public init() {}

    /// Begins a handshake if the address may. Then `ended` must follow.
    public mutating func begin(from address: IPAddress, at now: MonotonicTime) -> Bool {
        guard !address.isLoopback else { return true }
        makeRoom(at: now)
        var source = sources[address.network] ?? Source(tokens: perSecond, updated: now)
        let factor = source.trustedUntil > now ? Self.trustFactor : 1
        let gained = (now - source.updated).inSeconds * perSecond * factor
        source.tokens = min(perSecond * factor, source.tokens + gained)
        source.updated = now
        defer { sources[address.network] = source }
        guard source.tokens >= 1, Double(source.underWay) < Double(atOnce) * factor else { return false }
        source.tokens -= 1
        source.underWay += 1
        return true
    }

    /// A handshake has ended, in whatever way.
    public mutating func ended(from address: IPAddress) {
        guard let source = sources[address.network], source.underWay > 0 else { return }
        sources[address.network]?.underWay -= 1
    }

    /// A publisher was admitted there: a hall with a hundred encoders behind one address is not an attack.
    public mutating func trust(_ address: IPAddress, until moment: MonotonicTime) {
        guard !address.isLoopback else { return }
        sources[address.network, default: Source(tokens: perSecond, updated: .zero)].trustedUntil = moment
    }

    private mutating func makeRoom(at now: MonotonicTime) {
        guard sources.count >= Self.maximumSources else { return }
        sources = sources.filter { $0.value.underWay > 0 || $0.value.trustedUntil > now }
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
