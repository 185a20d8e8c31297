public import Wire

/// How many TLS handshakes one address may begin, and how long each may take. Sans-IO.
///
/// An address is an IPv4 host or an IPv6 /64, which is what one customer gets. Loopback is not limited: there it is the proxy
/// in front of us, or ourselves.
public struct HandshakeLimits: Sendable {
    /// A stranger's handshakes in one second.
    public let perSecond: Int
    /// From the beginning to the end of one.
    public let timeout: Duration
    /// Knows the addresses that may do more; nil: all are strangers.
    public let trust: AddressTrust?
    /// A stranger's handshakes under way.
    public static let atOnce = 20
    /// Addresses remembered.
    public static let maximumSources = 16_384

    /// No `Allowance`: an address' rate changes with what is known of it.
    private struct Source {
        var tokens: Double
        var updated: MonotonicTime
        var underWay = 0
    }

    /// After a second an address that began nothing has all its tokens again.
    private var sources = FadingTable<IPAddress, Source>(maximumCount: maximumSources, lifetime: .seconds(1)) {
        $0.underWay > 0
    }

    /// Nobody has begun one.
    public init(perSecond: Int, timeout: Duration, trust: AddressTrust? = nil) {
        (self.perSecond, self.timeout, self.trust) = (perSecond, timeout, trust)
    }

    /// Begins a handshake if the address may. Then `ended` must follow.
    public mutating func begin(from address: IPAddress, at now: MonotonicTime) -> Bool {
        guard !address.isLoopback else { return true }
        let rate = Double(trust?.allowance(perSecond, for: address, at: now) ?? perSecond)
        var source = sources.value(of: address.network, at: now) ?? Source(tokens: rate, updated: now)
        source.tokens = min(rate, source.tokens + (now - source.updated).inSeconds * rate)
        source.updated = now
        defer { sources.set(source, for: address.network, at: now) }
        let maximum = trust?.allowance(Self.atOnce, for: address, at: now) ?? Self.atOnce
        guard source.tokens >= 1, source.underWay < maximum else { return false }
        source.tokens -= 1
        source.underWay += 1
        return true
    }

    /// A handshake has ended, in whatever way.
    public mutating func ended(from address: IPAddress, at now: MonotonicTime) {
        guard var source = sources.value(of: address.network, at: now), source.underWay > 0 else { return }
        source.underWay -= 1
        sources.set(source, for: address.network, at: now)
    }

    /// Addresses remembered now.
    mutating func sourceCount(at now: MonotonicTime) -> Int { sources.count(at: now) }
}
