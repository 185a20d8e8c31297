import Admission
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

@Suite("What WHIP remembers of takeovers")
struct SourceTableTests {
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
