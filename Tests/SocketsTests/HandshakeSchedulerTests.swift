import EventLoop
import Sockets
import Testing
import Wire

@Suite("Handshakes in turn", .timeLimit(.minutes(1)))
struct HandshakeSchedulerTests {
    /// A step that costs so much CPU.
    static func burn(_ cost: Duration) {
        let end = EventLoop.threadCPU() + cost
        while EventLoop.threadCPU() < end {}
    }

    @Test func `a crowd waits in order, the authenticated first`() throws {
        let loop = try EventLoop()
        let scheduler = HandshakeScheduler.of(loop)
        var order: [String] = []
        scheduler.perform(.anonymous) { Self.burn(.milliseconds(4)) }
        for index in 0..<3 { scheduler.perform(.anonymous) { order.append("anonymous \(index)") } }
        for index in 0..<3 { scheduler.perform(.authenticated) { order.append("authenticated \(index)") } }
        #expect(order.isEmpty)
        #expect(loop.run(until: { order.count == 6 }, within: .seconds(20)))
        #expect(order == (0..<3).map { "authenticated \($0)" } + (0..<3).map { "anonymous \($0)" })
        #expect(scheduler.counters.delayed == 6)
    }

    @Test func `the line has an end`() throws {
        let scheduler = HandshakeScheduler.of(try EventLoop())
        scheduler.perform(.anonymous) { Self.burn(.milliseconds(4)) }
        let accepted = (0..<5_000).filter { _ in scheduler.perform(.anonymous) {} }
        #expect(accepted.count == HandshakeScheduler.maximumWaiting)
        #expect(scheduler.counters.refused == 5_000 - HandshakeScheduler.maximumWaiting)
    }

    @Test func `two hundred TLS handshakes at once leave the loop to others`() throws {
        let loop = try EventLoop()
        let material = try TestTLS.material()
        let server = try Server(loop: loop, tls: material.server)
        var opened = 0
        server.prepare = { $0.onOpen = { opened += 1 } }
        let address = server.address
        let crowd = try WorkerThread.start(name: "crowd") {
            do {
                let loop = try EventLoop()
                let clients = try (0..<200).map { _ in
                    Client(try TCPStream(loop: loop, connectingTo: address, tls: material.client, serverName: "localhost"))
                }
                #expect(loop.run(until: { clients.allSatisfy(\.isOpen) }, within: .seconds(20)))
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(server.wait { opened == 200 })
        let counters = HandshakeScheduler.of(loop).counters
        #expect(counters.steps >= 400)
        #expect(counters.refused == 0)
        crowd.join()
    }
}
