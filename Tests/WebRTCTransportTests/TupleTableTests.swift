import DTLS
import EventLoop
import GatewayMetrics
import Refusals
import STUN
import TestSupport
import Testing
import Wire

@testable import WebRTCTransport

@Suite("Tuple table")
struct TupleTableTests {
    private let context: TransportContext
    private let clock = FakeClock()

    init() throws {
        context = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)]), workerCount: 1,
            metrics: TransportMetrics(MetricsRegistry()))
    }

    /// - Returns: the path that made room, where nobody is left on it.
    @discardableResult
    private func check(_ entry: StubEntry, _ port: UInt16, in table: inout TupleTable) -> MediaPath? {
        guard let credentials = entry.transport.newestCredentials else { return nil }
        let member = TupleMember(
            entry, transport: nil, ufrag: credentials.ufrag, password: credentials.password, now: clock.now)
        return table.note(member, on: Self.path(port)).abandoned
    }

    private static func path(_ port: UInt16) -> MediaPath { MediaPath(remote: SocketAddress(.loopback, port: port)) }

    @Test func `a session has at most 16 tuples, and the oldest unused one goes`() throws {
        var table = TupleTable()
        let entry = StubEntry(on: context)
        check(entry, 1, in: &table)
        for port in 2..<UInt16(1_000) {
            clock.advance(by: .milliseconds(1))
            check(entry, port, in: &table)
            // Media keeps the first.
            table.find(Self.path(1).key)?.lastGenuine = clock.now
        }
        #expect(table.count == TupleTable.maximumPerSession)
        let ports = table.tuples(of: entry).map(\.path.remote.port).sorted()
        #expect(ports == [1] + Array(985...999))
    }

    @Test func `a path that makes room is told of unless another session is there`() {
        var table = TupleTable()
        let (first, second) = (StubEntry(on: context), StubEntry(on: context))
        check(second, 1, in: &table)
        let paths = (1...UInt16(TupleTable.maximumPerSession + 2)).map { port in
            clock.advance(by: .milliseconds(1))
            return check(first, port, in: &table)
        }
        #expect(paths.dropLast().allSatisfy { $0 == nil } && paths.last == Self.path(2))
        let kept = table.find(Self.path(1).key)
        #expect(kept?.first.entry === second)
    }

    @Test func `who was heard lately goes first, and after two seconds of silence whoever is checked`() throws {
        var table = TupleTable()
        let (first, second) = (StubEntry(on: context), StubEntry(on: context))
        check(first, 1, in: &table)
        clock.advance(by: .seconds(1))
        check(second, 1, in: &table)
        let found = table.find(Self.path(1).key)
        let tuple = try #require(found)
        #expect(tuple.first.entry === first)
        tuple.lastGenuine = clock.now
        clock.advance(by: .seconds(2))
        check(second, 1, in: &table)
        #expect(tuple.first.entry === first)
        clock.advance(by: .milliseconds(1))
        check(second, 1, in: &table)
        #expect(tuple.first.entry === second)
        check(first, 1, in: &table)
        #expect(tuple.first.entry === second && tuple.others.map { $0.entry === first } == [true])
    }

    @Test func `whom a packet is offered to is asked once a second, and anew when the members change`() throws {
        var table = TupleTable()
        let (first, second) = (StubEntry(on: context), StubEntry(on: context))
        check(first, 1, in: &table)
        check(second, 1, in: &table)
        let found = table.find(Self.path(1).key)
        let tuple = try #require(found)
        var asked = 0
        func order() -> PeerTuple.Order {
            tuple.order(of: 7, at: clock.now) {
                asked += 1
                return [second]
            }
        }
        for _ in 0..<10 {
            let order = order()
            #expect(order.near.isEmpty && order.far.map { $0.entry === second } == [true])
            clock.advance(by: .milliseconds(99))
        }
        #expect(asked == 1)
        clock.advance(by: .milliseconds(11))
        _ = order()
        #expect(asked == 2)
        check(StubEntry(on: context), 1, in: &table)
        _ = order()
        #expect(asked == 3)
    }

    /// Whatever comes in which order: both ways of finding agree, and nothing grows.
    @Test(arguments: 0..<5 as Range<UInt64>)
    func `sessions and tuples always know of each other, within their bounds`(seed: UInt64) throws {
        var table = TupleTable()
        var random = SplitMix64(seed: seed)
        let entries = (0..<12).map { _ in StubEntry(on: context) }
        for _ in 0..<1_000 {
            clock.advance(by: .milliseconds(Int64(random.next() % 500)))
            let entry = entries[Int(random.next() % 12)]
            let port = UInt16(random.next() % 64)
            switch random.next() % 20 {
            case 0: _ = table.removeAll(of: entry)
            case 1: table.remove(Self.path(port).key)
            case 2: table.sweep(at: clock.now, lifetime: .seconds(60))
            default: check(entry, port, in: &table)
            }
            #expect(isConsistent(table, entries))
        }
        for entry in entries { _ = table.removeAll(of: entry) }
        #expect(table.isEmpty)
    }

    private func isConsistent(_ table: TupleTable, _ entries: [StubEntry]) -> Bool {
        var table = table
        for entry in entries {
            let tuples = table.tuples(of: entry)
            guard tuples.count <= TupleTable.maximumPerSession, tuples.allSatisfy({ $0.member(entry) != nil }) else {
                return false
            }
        }
        for port in 0..<UInt16(64) {
            guard let tuple = table.find(Self.path(port).key) else { continue }
            let members = [tuple.first] + tuple.others
            guard members.count <= PeerTuple.maximumMembers,
                members.allSatisfy({ member in table.tuples(of: member.entry).contains { $0 === tuple } })
            else { return false }
        }
        return true
    }
}

/// A session of which only the transport counts.
final class StubEntry: TransportEntry {
    let transport: TransportState
    let purpose = TransportPurpose.publish
    /// Set by the one thread of a test.
    nonisolated(unsafe) var onFinish: () -> Void = {}
    /// Why it was finished.
    nonisolated(unsafe) private(set) var ended: SessionEnd?

    init(on context: TransportContext, fingerprints: [CertificateFingerprint] = []) {
        let peer = PeerDescription(
            isDTLSClient: false, fingerprints: fingerprints, iceOptions: [], ufrag: "peer", bundleMids: ["0"], taggedMid: "0",
            allowsMixedExtensions: false)
        transport = context.makeState(for: peer, token: Secret("token"), now: EventLoop.monotonicNow())
    }

    func reached(_ step: TransportStep, peer: SocketAddress) {}
    func checkRejected() {}
    func finish(_ reason: SessionEnd) {
        ended = reason
        onFinish()
    }
}
