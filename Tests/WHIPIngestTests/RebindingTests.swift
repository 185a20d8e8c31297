import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

@Suite("NAT rebinding on four workers", .timeLimit(.minutes(10)))
struct RebindingTests {
    /// As long as real clients take to their next check.
    static let silence = Duration.seconds(3)

    @Test func `a whole stream passes in the three seconds before the next check`() throws {
        let gateway = try TestGateway(workers: 4)
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("roamer", to: gateway))
        client.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["roamer"]?.video.count == 2 })
        var sent = 2
        // Some of these tuples fall to the session's own worker, and some to others.
        for _ in 0..<3 {
            client.rebind()
            let start = ContinuousClock.now
            while start.duration(to: .now) < Self.silence / 3 {
                for _ in 0..<30 { client.sendFrame() }
                sent += 30
                #expect(eventually { gateway.output["roamer"]?.video.count == sent })
                client.pump(within: 5)
            }
        }
        #expect(sent > RebindingBudget.maximumPerSecond * 3, "more than strangers may try")
        let numbers = try #require(gateway.output["roamer"]?.video)
        #expect(numbers == Array(1_000..<Int64(1_000 + sent)))
        #expect(client.connectICE(client.active))
        client.sendFrame()
        #expect(eventually { gateway.output["roamer"]?.video.count == sent + 1 })
    }

    @Test func `neighbours with the same source numbers each go on`() throws {
        let gateway = try TestGateway(workers: 4)
        defer { gateway.stop() }
        // As simple-whip-client numbers its sources.
        let clients = try (0..<4).map { index in
            let client = try TestClient(token: "twin\(index)")
            (client.videoSSRC, client.audioSSRC) = (1, 2)
            #expect(client.post(to: gateway) == 201 && client.connectICE())
            #expect(try client.connectDTLS())
            client.sendFrame(isKeyframe: true)
            #expect(eventually { gateway.output["twin\(index)"]?.video.count == 2 })
            return client
        }
        for round in 1...5 {
            for (index, client) in clients.enumerated() {
                client.rebind()
                client.sendFrame()
                #expect(eventually { gateway.output["twin\(index)"]?.video.count == 2 + round })
            }
        }
        // The one that came last is not in the way of the others when it has gone.
        #expect(clients[3].delete(at: gateway) == 200)
        for (index, client) in clients.dropLast().enumerated() {
            client.rebind()
            client.sendFrame()
            #expect(eventually { gateway.output["twin\(index)"]?.video.count == 8 })
        }
        for client in clients.dropLast() { #expect(client.delete(at: gateway) == 200) }
        #expect(eventually { gateway.context.directory.count == 0 })
        #expect(gateway.context.transport.directory.entries(source: 1).isEmpty)
    }
}

extension TestClient {
    /// From now on it sends from another port, as behind a NAT that forgot it.
    fileprivate func rebind() {
        sockets.append(ClientSocket())
        active = sockets.count - 1
    }
}
