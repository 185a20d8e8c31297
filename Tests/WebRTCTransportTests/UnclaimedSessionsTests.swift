import EventLoop
import GatewayMetrics
import Testing
import Wire

@testable import WebRTCTransport

@Suite("Sessions that nobody has claimed yet", .timeLimit(.minutes(10)))
struct UnclaimedSessionsTests {
    @Test func `who hears that one has ended may bring another`() throws {
        let loop = try EventLoop()
        let context = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)]), workerCount: 1,
            metrics: TransportMetrics(MetricsRegistry()))
        let sessions = UnclaimedSessions(loop: loop, patience: .zero)
        let (first, second) = (StubEntry(on: context), StubEntry(on: context))
        first.onFinish = { [unowned sessions] in sessions.add(second) }
        sessions.add(first)
        #expect(loop.run(until: { second.transport.ownership == .ended }, within: .seconds(120)))
        #expect(first.transport.ownership == .ended)
        withExtendedLifetime(sessions) {}
    }
}
