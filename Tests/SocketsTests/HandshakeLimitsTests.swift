import TestSupport
import Testing
import Wire

@testable import Sockets

@Suite("Handshakes of one address")
struct HandshakeLimitsTests {
    static let start = MonotonicTime(nanoseconds: 1_000_000_000)
    static let host = IPAddress.v4(0xC000_0201)

    static func limits(_ trust: AddressTrust? = nil) -> HandshakeLimits {
        HandshakeLimits(perSecond: 10, timeout: .seconds(5), trust: trust)
    }

    @Test func `ten a second`() {
        var limits = Self.limits()
        let granted = (0..<1_000).filter { millisecond in
            let mayBegin = limits.begin(from: Self.host, at: Self.start + .milliseconds(millisecond))
            if mayBegin { limits.ended(from: Self.host, at: Self.start + .milliseconds(millisecond)) }
            return mayBegin
        }
        #expect((19...20).contains(granted.count), "a burst of ten, then ten a second")
    }

    @Test func `twenty at once`() {
        var limits = Self.limits()
        let granted = (0..<100).filter { limits.begin(from: Self.host, at: Self.start + .seconds($0)) }
        #expect(granted.count == 20)
        limits.ended(from: Self.host, at: Self.start + .seconds(200))
        let mayBegin = limits.begin(from: Self.host, at: Self.start + .seconds(200))
        #expect(mayBegin)
    }

    @Test(arguments: [
        (
            IPAddress.v6(high: 0x2001_0DB8_0000_0001, low: 1, scope: 0),
            IPAddress.v6(high: 0x2001_0DB8_0000_0001, low: 2, scope: 0), true
        ),
        (.v6(high: 0x2001_0DB8_0000_0001, low: 1, scope: 0), .v6(high: 0x2001_0DB8_0000_0002, low: 1, scope: 0), false),
        (.v4(0xC000_0201), .v4(0xC000_0202), false),
    ])
    func `one customer is an IPv4 host or an IPv6 network of 64 bits`(one: IPAddress, other: IPAddress, isSame: Bool) {
        var limits = Self.limits()
        while limits.begin(from: one, at: Self.start) {}
        let mayBegin = limits.begin(from: other, at: Self.start)
        #expect(mayBegin != isSame)
    }

    @Test func `trust lasts for an hour after the last stream, and is as wide as there were streams`() {
        let trust = AddressTrust()
        #expect(trust.allowance(20, for: Self.host, at: Self.start) == 20)
        for _ in 0..<500 { trust.publishBegan(Self.host, at: Self.start) }
        #expect(trust.allowance(20, for: Self.host, at: Self.start + .seconds(100_000)) == 500, "while they are live")
        let end = Self.start + .seconds(100_000)
        for _ in 0..<500 { trust.publishEnded(Self.host, at: end) }
        #expect(trust.allowance(20, for: Self.host, at: end + .seconds(3_599)) == 500, "they come back")
        #expect(trust.allowance(20, for: Self.host, at: end + .seconds(3_600)) == 20)
        trust.publishBegan(Self.host, at: end + .seconds(4_000))
        #expect(trust.allowance(20, for: Self.host, at: end + .seconds(4_000)) == 200)
        #expect(trust.allowance(20, for: .v4(0xC000_0202), at: end) == 20)
    }

    @Test func `addresses known to work are forgotten by time alone, and make way when there are too many`() {
        let trust = AddressTrust()
        expectFading(maximum: AddressTrust.maximumAddresses, lifetime: AddressTrust.duration) { source, now in
            trust.publishBegan(.v4(source), at: now)
            trust.publishEnded(.v4(source), at: now)
            return trust.allowance(1, for: .v4(source), at: now) == AddressTrust.factor
        } count: {
            trust.addressCount(at: $0)
        }
    }

    @Test func `an address with live streams is known to work however long, and however many others come`() {
        let trust = AddressTrust()
        trust.publishBegan(Self.host, at: Self.start)
        for host in 0..<UInt32(4 * AddressTrust.maximumAddresses) {
            trust.publishBegan(.v4(host), at: Self.start)
            trust.publishEnded(.v4(host), at: Self.start)
        }
        #expect(trust.allowance(1, for: Self.host, at: Self.start + .seconds(1_000_000)) == AddressTrust.factor)
    }

    @Test func `limits by address are forgotten by time alone, and make way when there are too many`() {
        var limits = Self.limits()
        expectFading(maximum: HandshakeLimits.maximumSources, lifetime: .seconds(1)) { source, now in
            let mayBegin = limits.begin(from: .v4(source), at: now)
            limits.ended(from: .v4(source), at: now)
            return mayBegin
        } count: {
            limits.sourceCount(at: $0)
        }
    }

    @Test func `an address known to work may do ten times as much, loopback what it likes`() {
        let trust = AddressTrust()
        var limits = Self.limits(trust)
        trust.publishBegan(Self.host, at: Self.start)
        trust.publishEnded(Self.host, at: Self.start)
        let granted = (0..<1_000).filter { _ in limits.begin(from: Self.host, at: Self.start) }
        #expect(granted.count == 100)
        let atHome = (0..<1_000).filter { _ in limits.begin(from: .loopback, at: Self.start) }
        #expect(atHome.count == 1_000)
    }
}
