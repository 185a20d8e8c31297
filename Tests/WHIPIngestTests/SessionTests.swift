import Admission
import DTLS
import Foundation
import GatewayMetrics
import HTTP
import RTCP
import Refusals
import Settings
import StageHub
import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

@Suite("WHIP sessions on real sockets", .timeLimit(.minutes(10)))
struct SessionTests {
    @Test func `a publisher's packets reach the hub with their own numbers and gaps`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("alice", to: gateway))
        client.sendFrame(isKeyframe: true)
        client.sendFrame()
        client.sendFrame(skipping: true)
        client.sendFrame()
        #expect(eventually { gateway.output["alice"]?.video.count == 4 })
        let stream = try #require(gateway.output["alice"])
        #expect(stream.video == [1_000, 1_001, 1_002, 1_004])
        #expect(stream.keyframes == 1)
        #expect(client.delete(at: gateway) == 200)
        #expect(eventually { gateway.output["alice"]?.ended == .closed })
        #expect(
            eventually {
                client.pump(); return client.isClosedByPeer
            })
        #expect(gateway.leases.liveCount == 0)
        #expect(client.delete(at: gateway) == 200, "For a minute its encoder may tidy up once more")
    }

    @Test func `a session counts against the node's limit from its POST on, until it is live or over`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        gateway.gate.maximumPublishes = 2
        let clients = try ["alice", "bob", "carol"].map { try TestClient(token: $0) }
        #expect(clients.map { $0.post(to: gateway) } == [201, 201, 503])
        #expect(clients[1].delete(at: gateway) == 200)
        #expect(eventually { gateway.gate.startingPublishes == 1 })
        #expect(clients[2].post(to: gateway) == 201)
        #expect(gateway.gate.startingPublishes == 2)
        #expect(clients[0].connectICE())
        #expect(try clients[0].connectDTLS())
        #expect(eventually { gateway.gate.startingPublishes == 1 })
    }

    @Test func `ffmpeg's role, DTLS server, is served by a client hello of ours`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try TestClient(token: "ffmpeg", isPassive: true)
        #expect(client.post(to: gateway) == 201)
        client.dropsFirstFlight = true
        client.check(useCandidate: false)
        #expect(try client.connectDTLS())
        client.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["ffmpeg"]?.video.count == 2 })
    }

    @Test func `lost packets are asked for, and keyframes when the gate opens`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("lossy", to: gateway))
        client.sendFrame()
        client.sendFrame(skipping: true)
        for _ in 0..<4 { client.sendFrame() }
        let isAsked = eventually {
            client.pump()
            return client.control.contains {
                if case .nack(let nack) = $0 { nack.entries.first?.packetID == 1_001 } else { false }
            }
        }
        #expect(isAsked)
        #expect(client.control.contains { if case .pictureLoss = $0 { true } else { false } })
        let isReported = eventually {
            client.pump()
            return client.control.contains { if case .receiverReport(let report) = $0 { !report.reports.isEmpty } else { false } }
        }
        #expect(isReported)
    }

    @Test func `a wrong fingerprint forwards nothing and ends the session`() throws {
        // Neither the time of its handshake nor its silence ends it while this test waits.
        let gateway = try TestGateway { ($0.whip.handshakeTimeout, $0.whip.consentTimeout) = (.seconds(300), .seconds(300)) }
        defer { gateway.stop() }
        let client = try TestClient(token: "mallory")
        #expect(client.post(to: gateway, fingerprint: [UInt8](repeating: 1, count: 32)) == 201)
        #expect(client.connectICE())
        #expect(
            eventually {
                (try? client.connectDTLS(within: 0.05)) == false && gateway.context.directory.count == 0
                    && gateway.leases.liveCount == 0
            })
        #expect(gateway.output["mallory"] == nil)
    }

    @Test func `a wrong password is not answered and leaves nothing behind`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try TestClient(token: "mallory")
        client.post(to: gateway)
        for _ in 0..<20 { client.check(password: Array("wrongwrongwrongwrongwrong".utf8)) }
        #expect(client.sockets[0].receive(within: 200) == nil)
        // Without a check DTLS goes nowhere.
        #expect(try !client.connectDTLS(within: 0.5))
        #expect(eventually { gateway.context.transport.metrics.unverifiedDTLS.value > 0 })
    }

    @Test func `a DTLS client hello from a third address does not disturb the session`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("alice", to: gateway))
        let stranger = try TestClient(token: "stranger")
        stranger.remote = client.remote
        stranger.sendRaw([22, 0xFE, 0xFF] + [UInt8](repeating: 0, count: 10) + [1] + [UInt8](repeating: 0, count: 60))
        client.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["alice"]?.video.count == 2 })
    }

    @Test func `replayed, forged and unknown packets are dropped and never end a session`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("alice", to: gateway))
        client.sendFrame(isKeyframe: true)
        let packet = client.lastPacket
        for _ in 0..<1_000 { client.sendRaw(packet) }
        for index in 0..<1_000 {
            var forged = packet
            forged[20 + index % 100] ^= 0xFF
            (forged[8], forged[9]) = (UInt8(index & 255), UInt8(index >> 8))
            client.sendRaw(forged)
        }
        // The kernel may have no room for the first behind so many.
        let goesOn = eventually {
            client.sendFrame()
            client.pump()
            return (gateway.output["alice"]?.video.count ?? 0) > 2
        }
        let video = try #require(gateway.output["alice"]?.video)
        #expect(goesOn && video.prefix(2) == [1_000, 1_001] && video == Set(video).sorted(), "\(video)")
        #expect(gateway.output["alice"]?.restarts == 0 && gateway.output["alice"]?.ended == nil)
    }

    @Test func `NAT rebinding goes on without a break, though the next check comes late`() throws {
        let gateway = try TestGateway(workers: 4)
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("roamer", to: gateway))
        client.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["roamer"]?.video.count == 2 })
        for _ in 0..<5 {
            client.sockets.append(ClientSocket())
            client.active = client.sockets.count - 1
            let count = gateway.output["roamer"]?.video.count ?? 0
            for _ in 0..<5 { client.sendFrame() }
            #expect(eventually { gateway.output["roamer"]?.video.count == count + 5 })
        }
        #expect(client.connectICE(client.active))
        client.sendFrame()
        #expect(eventually { gateway.output["roamer"]?.video.count == 28 })
    }

    @Test func `silence ends a session`() throws {
        let gateway = try TestGateway { $0.whip.consentTimeout = .seconds(4) }
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("quiet", to: gateway))
        client.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["quiet"]?.ended == .connectionLost })
        #expect(eventually { gateway.leases.liveCount == 0 && gateway.context.directory.count == 0 })
    }

    @Test func `a client's close_notify frees the slot at once`() throws {
        // Its silence would free it long after this test.
        let gateway = try TestGateway { $0.whip.consentTimeout = .seconds(300) }
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("gone", to: gateway))
        client.dtls?.close()
        client.sendFlights()
        #expect(eventually { gateway.leases.liveCount == 0 && gateway.context.directory.count == 0 })
    }

    @Test func `a session that no check reaches says so`() throws {
        let gateway = try TestGateway { $0.whip.pendingTimeout = .milliseconds(500) }
        defer { gateway.stop() }
        let client = try TestClient(token: "lost")
        client.post(to: gateway)
        #expect(eventually { !gateway.context.directory.recentlyFinished.isEmpty })
        let verdict = gateway.context.directory.recentlyFinished[0].story.verdict ?? ""
        #expect(verdict.contains("no connectivity check arrived on UDP 127.0.0.1"), "\(verdict)")
        let counted = #"stagedoor_whip_unpublished_total{step="posted"} 1"#
        #expect(eventually { gateway.exposition.contains(counted) })
    }

    /// RootEncoder 2.8.0 sends one, and waits for the server's own and for its ClientHello.
    @Test(arguments: [(1, "one connectivity check arrived, then"), (2, "connectivity checks arrived but no DTLS ClientHello")])
    func `a session that no DTLS follows says so, and whether its client asked again`(_ checks: Int, _ fact: String) throws {
        let gateway = try TestGateway { $0.whip.pendingTimeout = .seconds(2) }
        defer { gateway.stop() }
        let client = try TestClient(token: "waiting")
        #expect(client.post(to: gateway) == 201)
        for _ in 0..<checks { client.check(useCandidate: false) }
        #expect(eventually { !gateway.context.directory.recentlyFinished.isEmpty })
        let verdict = gateway.context.directory.recentlyFinished[0].story.verdict ?? ""
        #expect(verdict.contains(fact), "\(verdict)")
    }

    @Test func `a client that ends its session at once is not told of an address that cannot be reached`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try TestClient(token: "hasty")
        client.post(to: gateway)
        #expect(client.delete(at: gateway) == 200)
        #expect(eventually { !gateway.context.directory.recentlyFinished.isEmpty })
        let story = gateway.context.directory.recentlyFinished[0].story
        #expect(story.entries.map(\.step) == [.posted, .ended])
        #expect(story.verdict?.hasPrefix("The publisher ended the session after ") == true, "\(story)")
        #expect(story.verdict?.contains("reachable") == false)
    }

    @Test func `POSTs that replace one another and never connect leave no lease behind`() throws {
        let gateway = try TestGateway { $0.whip.pendingTimeout = .seconds(4) }
        defer { gateway.stop() }
        for _ in 0..<3 { try #expect(TestClient(token: "again").post(to: gateway) == 201) }
        #expect(gateway.context.directory.pendingCount == 1)
        #expect(eventually { gateway.context.directory.recentlyFinished.count == 3 })
        #expect(eventually { gateway.leases.liveCount == 0 })
    }
}

@Suite("WHIP sessions over four workers", .timeLimit(.minutes(10)))
struct WorkerTests {
    @Test func `sixteen sessions are spread, each with one owner`() throws {
        let gateway = try TestGateway(workers: 4)
        defer { gateway.stop() }
        let clients = try (0..<16).map { try TestClient.connected("p\($0)@s\($0 / 8)", to: gateway) }
        #expect(clients.allSatisfy { $0 != nil })
        for client in clients { client?.sendFrame(isKeyframe: true) }
        #expect(eventually { gateway.output.all.values.filter { $0.video.count == 2 }.count == 16 })
        #expect(Set(gateway.output.all.values.map(\.worker)).count > 1)
        #expect(gateway.context.directory.pendingCount == 0)
    }

    @Test func `three pairs nominated, the pair changing in the handshake and after it`() throws {
        let gateway = try TestGateway(workers: 4)
        defer { gateway.stop() }
        for round in 0..<5 {
            let client = try TestClient(token: "multi\(round)")
            client.sockets = (0..<3).map { _ in ClientSocket() }
            #expect(client.post(to: gateway) == 201)
            for index in 0..<3 { #expect(client.connectICE(index)) }
            client.active = 0
            _ = try client.connectDTLS(within: 0)
            client.active = 1
            #expect(try client.connectDTLS())
            for index in 0..<3 {
                client.active = index
                client.sendFrame(isKeyframe: index == 0)
            }
            #expect(eventually { gateway.output["multi\(round)"]?.video.count == 4 })
        }
        #expect(gateway.leases.liveCount == 5)
    }

    @Test func `DELETE racing the client hello leaves nothing behind`() throws {
        let gateway = try TestGateway(workers: 4)
        defer { gateway.stop() }
        for round in 0..<1_000 {
            let client = try TestClient(token: "racer")
            let source = "192.0.2.\(round % 250 + 1):1000"
            #expect(client.post(to: gateway, from: source, worker: round % 4) == 201)
            #expect(client.connectICE())
            _ = try client.connectDTLS(within: 0)
            #expect(client.delete(at: gateway, from: source, worker: (round + 1) % 4) == 200)
        }
        #expect(eventually { gateway.context.directory.count == 0 && gateway.leases.liveCount == 0 })
        #expect(gateway.context.directory.pendingCount == 0)
    }
}
