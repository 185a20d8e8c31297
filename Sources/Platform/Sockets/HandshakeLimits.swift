public import Wire

/// How many handshakes one address may begin: 10 a second, 20 at once. Sans-IO.
///
/// An address is an IPv4 host or an IPv6 /64, which is what one customer gets. Loopback is not limited: there it is the proxy
/// in front of us, or ourselves.
public struct HandshakeLimits: Sendable {
    public var perSecond = 10
    public var atOnce = 20
    /// Knows the addresses that may do more.
    public var trust: AddressTrust?
    /// Addresses remembered; beyond that the ones that have nothing under way are forgotten.
    public static let maximumSources = 16_384

    private struct Source {
        var tokens: Double
        var updated: MonotonicTime
        var underWay = 0
    }

    private var sources: [IPAddress: Source] = [:]

    public init() {}

    /// Begins a handshake if the address may. Then `ended` must follow.
    public mutating func begin(from address: IPAddress, at now: MonotonicTime) -> Bool {
        guard !address.isLoopback else { return true }
        makeRoom()
        let rate = Double(trust?.allowance(perSecond, for: address, at: now) ?? perSecond)
        var source = sources[address.network] ?? Source(tokens: rate, updated: now)
        source.tokens = min(rate, source.tokens + (now - source.updated).inSeconds * rate)
        source.updated = now
        defer { sources[address.network] = source }
        let maximum = trust?.allowance(atOnce, for: address, at: now) ?? atOnce
        guard source.tokens >= 1, source.underWay < maximum else { return false }
        source.tokens -= 1
        source.underWay += 1
        return true
    }

    /// A handshake has ended, in whatever way.
    public mutating func ended(from address: IPAddress) {
        guard let source = sources[address.network], source.underWay > 0 else { return }
        sources[address.network]?.underWay -= 1
    }

    private mutating func makeRoom() {
        guard sources.count >= Self.maximumSources else { return }
        sources = sources.filter { $0.value.underWay > 0 }
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
