import GatewayMetrics
import TestSupport
import Testing
import Wire

@testable import WebRTCTransport

@Suite("Rebinding")
struct RebindingTests {
    private let context: TransportContext
    private let entry: StubEntry
    private let directory = TransportDirectory()
    private let clock = FakeClock()
    private let named: UInt32 = 1
    private let nobodys: UInt32 = 2
    private let key = MediaPath(remote: SocketAddress(.loopback, port: 7)).key

    init() throws {
        context = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)]), workerCount: 1,
            metrics: TransportMetrics(MetricsRegistry()))
        entry = StubEntry(on: context)
        directory.add(source: named, for: entry)
    }

    /// How many of so many packets are tried.
    private func tried(_ count: Int, of source: UInt32, by rebinding: inout Rebinding, hasPredecessor: Bool) -> Int {
        var tried = 0
        for _ in 0..<count where !rebinding.sessionsToTry(source: source, at: clock.now, hasPredecessor: hasPredecessor).isEmpty {
            tried += 1
        }
        return tried
    }

    @Test func `strangers' packets and those that may be ours have one budget, anew each second`() {
        var rebinding = Rebinding(directory)
        let ofNobody = tried(150, of: nobodys, by: &rebinding, hasPredecessor: false)
        let ofOurs = tried(500, of: named, by: &rebinding, hasPredecessor: false)
        #expect(ofNobody == 0 && ofOurs == RebindingBudget.maximumPerSecond - 150)
        clock.advance(by: .seconds(1))
        let ofNextSecond = tried(500, of: named, by: &rebinding, hasPredecessor: false)
        #expect(ofNextSecond == RebindingBudget.maximumPerSecond)
    }

    @Test func `with a process before us only what may be ours is paid for`() {
        var rebinding = Rebinding(directory)
        let ofNobody = tried(500, of: nobodys, by: &rebinding, hasPredecessor: true)
        let ofOurs = tried(500, of: named, by: &rebinding, hasPredecessor: true)
        #expect(ofNobody == 0 && ofOurs == RebindingBudget.maximumPerSecond)
    }

    /// Encoders that number their sources alike, or whoever copies a number.
    @Test func `of many sessions with one source each is tried in its turn`() {
        for _ in 0..<39 { directory.add(source: named, for: StubEntry(on: context)) }
        var rebinding = Rebinding(directory)
        var tried: Set<ObjectIdentifier> = []
        for _ in 0..<3 {
            let sessions = rebinding.sessionsToTry(source: named, at: clock.now, hasPredecessor: false)
            #expect(sessions.count == SourceTable.maximumAtOnce)
            tried.formUnion(sessions.map { ObjectIdentifier($0) })
        }
        #expect(tried.count == 40 && tried.contains(ObjectIdentifier(entry)))
        directory.remove(sources: [named], of: entry)
        #expect(directory.entries(source: named).count == 39)
    }

    @Test func `a tuple is known until it is checked, or its session has ended`() {
        var rebinding = Rebinding(directory)
        rebinding.learn(key, of: entry)
        rebinding.sweep()
        #expect(rebinding.entry(at: key) === entry)
        rebinding.forget(key)
        #expect(rebinding.entry(at: key) == nil && rebinding.isEmpty)
        rebinding.learn(key, of: entry)
        _ = entry.transport.markEnded()
        rebinding.sweep()
        #expect(rebinding.isEmpty)
    }
}
