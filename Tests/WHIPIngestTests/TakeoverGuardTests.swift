import Admission
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

@Suite("Flap guard")
struct TakeoverGuardTests {
    @Test func `the incumbent stays after three takeovers between different addresses in a minute`() {
        var flaps = TakeoverGuard()
        let (p, elsewhere) = (ParticipantKey("p", onStage: "s"), ParticipantKey("p", onStage: "another"))
        let (a, b) = (IPAddress("192.0.2.1")!, IPAddress("192.0.2.2")!)
        let start = MonotonicTime(nanoseconds: 1)
        for index in 0..<3 {
            let result10 = flaps.allows(p, from: a, now: start)
            #expect(result10)
            flaps.record(p, from: index % 2 == 0 ? a : b, by: index % 2 == 0 ? b : a, now: start)
        }
        let result11 = flaps.allows(p, from: a, now: start + .seconds(1))
        #expect(!result11)
        let result12 = flaps.allows(p, from: b, now: start + .seconds(1))
        #expect(result12, "the incumbent itself may come again")
        let result13 = flaps.allows(p, from: a, now: start + .seconds(61))
        #expect(result13)
        let result14 = flaps.allows(elsewhere, from: a, now: start)
        #expect(result14)
    }

    @Test func `an encoder that has another address of its network at each restart may come again`() {
        var flaps = TakeoverGuard()
        let (p, now) = (ParticipantKey("p", onStage: "s"), MonotonicTime(nanoseconds: 1))
        let own = (1...5).map { IPAddress.v6(high: 0x2001_0db8_0000_0001, low: $0, scope: 0) }
        for (former, next) in zip(own, own.dropFirst()) { flaps.record(p, from: former, by: next, now: now) }
        let isAllowed = flaps.allows(p, from: own[0], now: now)
        #expect(isAllowed)
    }

    @Test func `takeovers are forgotten by time alone, and make way when there are too many`() {
        var guardian = TakeoverGuard()
        expectFading(maximum: TakeoverGuard.maximumParticipants, lifetime: TakeoverGuard.window) { source, now in
            for address in 0..<UInt32(TakeoverGuard.maximumTakeovers) {
                guardian.record(ParticipantKey("\(source)", onStage: "s"), from: .v4(address), by: .v4(address + 1), now: now)
            }
            return !guardian.allows(ParticipantKey("\(source)", onStage: "s"), from: .v4(99), now: now)
        } count: {
            guardian.participantCount(at: $0)
        }
    }
}
