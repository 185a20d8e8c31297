import TestSupport
import Testing
import Wire

@testable import WebRTCTransport

@Suite("What WHIP and WHEP remember of sources")
struct RequestRatesTests {
    @Test func `request rates are forgotten by time alone, and no newcomer is refused while they are full`() {
        var rates = RequestRates()
        expectFading(maximum: RequestRates.maximumSources, lifetime: .seconds(4)) { source, now in
            rates.allows(.v4(source), now: now)
        } count: {
            rates.sourceCount(at: $0)
        }
    }

    @Test func `a source has 200 requests at once and 50 a second, a network of IPv6 as much as a host of IPv4`() {
        var rates = RequestRates()
        let clock = FakeClock()
        func allowed(_ address: IPAddress) -> Int { (0..<1_000).count { _ in rates.allows(address, now: clock.now) } }
        #expect(allowed(.v4(1)) == 200)
        #expect(allowed(.v6(high: 7, low: 1, scope: 0)) == 200)
        #expect(allowed(.v6(high: 7, low: 2, scope: 0)) == 0)
        clock.advance(by: .seconds(1))
        #expect(allowed(.v4(1)) == 50)
    }

    @Test func `what is given back counts for nothing, and nobody gains by it`() {
        var rates = RequestRates()
        let (clock, address) = (FakeClock(), IPAddress.v4(1))
        rates.giveBack(to: address, now: clock.now)
        func allowed(andGivenBack: Bool) -> Int {
            (0..<1_000).count { _ in
                defer { if andGivenBack { rates.giveBack(to: address, now: clock.now) } }
                return rates.allows(address, now: clock.now)
            }
        }
        #expect(allowed(andGivenBack: true) == 1_000)
        rates.giveBack(to: address, now: clock.now)
        #expect(allowed(andGivenBack: false) == 200)
    }
}
