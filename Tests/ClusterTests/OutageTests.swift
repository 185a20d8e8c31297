import Testing
import Wire

@testable import Cluster

@Suite("Silence of the server")
struct OutageTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func makeConnected() -> Outage {
        var outage = Outage(silence: .seconds(3), grace: .seconds(15), interval: .seconds(1))
        outage.connected(runID: "1", at: start)
        return outage
    }

    @Test func `a process begins with a grace: it does not know what went on before`() {
        let outage = makeConnected()
        #expect(outage.grace(at: start + .seconds(14)) == .expired)
        #expect(outage.grace(at: start + .seconds(15)) == .none)
    }

    @Test(arguments: [(2, "1", Grace.none), (4, "1", .expired), (2, "2", .unknown), (40, "2", .unknown)])
    func `a connection that comes back`(after seconds: Int, runID: String, grace: Grace) {
        var outage = makeConnected()
        let before = start + .seconds(100)
        _ = outage.answered(sentAt: before, at: before)
        outage.disconnected()
        #expect(outage.isAway)
        let back = before + .seconds(seconds)
        outage.connected(runID: runID, at: back)
        #expect(outage.grace(at: back) == (grace == .none && seconds < 3 ? .none : grace))
        #expect(outage.grace(at: back + .seconds(15)) == .none)
    }

    @Test(arguments: [(1_000, false), (2_999, false), (3_001, true)])
    func `an answer that took its time`(milliseconds: Int, isSilence: Bool) {
        var outage = makeConnected()
        let asked = start + .seconds(100)
        #expect(outage.answered(sentAt: asked, at: asked + .milliseconds(milliseconds)) == isSilence)
    }

    @Test func `many answers of one silence are one`() {
        var outage = makeConnected()
        let asked = start + .seconds(100)
        #expect(outage.answered(sentAt: asked, at: asked + .seconds(5)) == true)
        #expect(outage.answered(sentAt: asked, at: asked + .seconds(5)) == false)
    }

    @Test func `a silence of others is theirs once the server has answered at once for as long`() {
        var outage = makeConnected()
        let later = start + .seconds(60)
        for second in 1...60 { outage.heartbeatAnswered(sentAt: start + .seconds(second), at: start + .seconds(second)) }
        outage.heartbeatAnswered(sentAt: later, at: later + .seconds(1))
        #expect(outage.trust(inSilenceOf: .seconds(4)) <= later)
        outage.heartbeatAnswered(sentAt: later, at: later + .milliseconds(1_001))
        #expect(outage.trust(inSilenceOf: .seconds(4)) == later + .milliseconds(5_001))
        outage.heartbeatAnswered(sentAt: nil, at: later + .seconds(2))
        #expect(outage.trust(inSilenceOf: .seconds(4)) == later + .seconds(6))
        outage.begin(.expired, at: later + .seconds(2))
        #expect(outage.trust(inSilenceOf: .seconds(4)) == later + .seconds(17))
    }

    @Test func `who stood still itself gives the server a second to hear what waits for it`() {
        var outage = makeConnected()
        outage.heartbeatAnswered(sentAt: start + .seconds(2), at: start + .seconds(2))
        #expect(outage.trust(inSilenceOf: .zero) == start + .seconds(15), "the grace of a process that begins")
        outage.heartbeatAnswered(sentAt: start + .seconds(20), at: start + .seconds(20))
        #expect(outage.trust(inSilenceOf: .seconds(4)) == start + .seconds(21))
    }

    @Test func `what the server forgot weighs more than what expired`() {
        var outage = makeConnected()
        outage.begin(.unknown, at: start + .seconds(1))
        outage.begin(.expired, at: start + .seconds(2))
        #expect(outage.grace(at: start + .seconds(16)) == .unknown)
    }

    @Test func `a server that writes nothing down is silent, whatever else it answers`() {
        var outage = makeConnected()
        let full = start + .seconds(100)
        #expect(outage.heartbeatWritten(false, at: full) == false)
        #expect(outage.grace(at: full + .seconds(3)) == .none)
        _ = outage.answered(sentAt: full + .seconds(4), at: full + .seconds(4))
        #expect(outage.grace(at: full + .seconds(4)) == .expired)
        #expect(outage.heartbeatWritten(false, at: full + .seconds(19)) == false)
        #expect(outage.heartbeatWritten(true, at: full + .seconds(20)) == true)
        #expect(outage.grace(at: full + .seconds(34)) == .expired)
        #expect(outage.grace(at: full + .seconds(35)) == .none)
    }

    @Test func `a heartbeat that was refused once is no silence`() {
        var outage = makeConnected()
        let full = start + .seconds(100)
        _ = outage.heartbeatWritten(false, at: full)
        #expect(outage.heartbeatWritten(true, at: full + .seconds(1)) == false)
        #expect(outage.grace(at: full + .seconds(60)) == .none)
    }

    @Test func `a server that refused everything has been silent when its connection is another one too`() {
        var outage = makeConnected()
        let full = start + .seconds(100)
        _ = outage.heartbeatWritten(false, at: full)
        _ = outage.answered(sentAt: full + .seconds(10), at: full + .seconds(10))
        outage.disconnected()
        outage.connected(runID: "1", at: full + .seconds(11))
        #expect(outage.grace(at: full + .seconds(25)) == .expired)
        #expect(outage.grace(at: full + .seconds(26)) == .none)
    }
}
