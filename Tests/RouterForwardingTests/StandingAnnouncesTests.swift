import Admission
import Testing

@testable import RouterForwarding

@Suite("What routers hold")
struct StandingAnnouncesTests {
    /// A router that renews leases and answers no DELETE would be told of everybody who ever left, behind each lease.
    @Test func `ends that no router answers are kept up to a number`() {
        var standing = StandingAnnounces()
        for number in 0...StandingAnnounces.maximumUntoldEnds {
            standing.keepEnd(of: ParticipantKey("p\(number)", onStage: "s"), by: "http://127.0.0.1:1/p\(number)")
        }
        let ends = standing.takeUntoldEnds()
        #expect(ends.count == StandingAnnounces.maximumUntoldEnds)
        let further = standing.takeUntoldEnds()
        #expect(further.isEmpty)
    }
}
