import Sockets
import Testing
import Wire

@Suite("Connections that have shown nothing yet")
struct UnknownConnectionsTests {
    private let admission = ConnectionAdmission(maximumCount: 2, maximumPerAddress: 3)

    @Test func `the oldest of the same worker makes way, and never the newcomer itself`() {
        var (one, other) = (UnknownConnections<Int>(admission), UnknownConnections<Int>(admission))
        #expect(one.admit(1, from: .loopback) == .admitted(displacing: nil))
        #expect(one.admit(2, from: .loopback) == .admitted(displacing: nil))
        #expect(other.admit(3, from: .v4(1)) == .admitted(displacing: nil), "nobody here is older")
        #expect(other.admit(4, from: .v4(1)) == .admitted(displacing: 3))
        other.leave(3)
        #expect(admission.count == 3 && other.oldest == 4 && one.oldest == 1)
    }

    @Test func `one that leaves and comes anew is the newest`() {
        var unknown = UnknownConnections<Int>(admission)
        for id in [1, 2] { _ = unknown.admit(id, from: .loopback) }
        unknown.leave(1)
        _ = unknown.admit(1, from: .loopback)
        #expect(unknown.oldest == 2)
        unknown.leave(2)
        #expect(unknown.oldest == 1 && admission.count == 1)
    }

    @Test func `an address has its share, which it gets back once`() {
        var unknown = UnknownConnections<Int>(admission)
        for id in 1...3 { _ = unknown.admit(id, from: .loopback) }
        #expect(unknown.admit(4, from: .loopback) == .tooManyFromAddress)
        for _ in 0..<2 { unknown.leave(2) }
        #expect(unknown.admit(4, from: .loopback) != .tooManyFromAddress)
        #expect(unknown.admit(5, from: .loopback) == .tooManyFromAddress)
    }

    @Test func `what one keeps in unfinished messages is given back when it leaves`() {
        var unknown = UnknownConnections<Int>(admission)
        for id in [1, 2] { _ = unknown.admit(id, from: .loopback) }
        #expect(unknown.keeps(60 << 20, by: 1) == true)
        #expect(unknown.keeps(1 << 20, by: 2) == true)
        #expect(unknown.keeps(5 << 20, by: 2) == false, "all together")
        #expect(unknown.keeps(5 << 20, by: 2) == true, "nothing has changed")
        #expect(unknown.keeps(.max, by: 3) == true, "it is not among them")
        unknown.leave(1)
        #expect(unknown.keeps(60 << 20, by: 2) == true)
    }
}
