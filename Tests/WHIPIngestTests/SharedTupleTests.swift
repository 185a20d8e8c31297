import STUN
import TestSupport
import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

/// Checks prove the password and not the address: whoever has a token of his own may send them from anybody's.
@Suite("Sessions that meet on one tuple", .timeLimit(.minutes(10)))
struct SharedTupleTests {
    @Test func `checks of another session from a publisher's address take nothing from it, and both go on`() throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let publisher = try #require(try TestClient.connected("victim", to: gateway))
        let other = try #require(try TestClient.connected("other", to: gateway))
        publisher.sendFrame(isKeyframe: true)
        other.sendFrame(isKeyframe: true)
        for round in 1...100 {
            other.check(from: publisher.sockets[0])
            publisher.sendFrame()
            other.sendFrame()
            #expect(eventually { gateway.output["victim"]?.video.count == 2 + round })
            #expect(eventually { gateway.output["other"]?.video.count == 2 + round })
        }
        #expect(publisher.connectICE(), "its own checks are answered")
    }

    @Test func `a check of another session just before a publisher's ClientHello changes nothing`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let other = try TestClient(token: "waiting")
        #expect(other.post(to: gateway) == 201)
        let publisher = try TestClient(token: "victim")
        #expect(publisher.post(to: gateway) == 201 && publisher.connectICE())
        for _ in 0..<3 { other.check(from: publisher.sockets[0]) }
        #expect(try publisher.connectDTLS())
        publisher.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["victim"]?.video.count == 2 })
        // Nor is the other one hurt: it connects from where it really is.
        #expect(other.connectICE())
        #expect(try other.connectDTLS())
    }

    @Test func `two sessions of one socket both publish`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let first = try #require(try TestClient.connected("first", to: gateway))
        let second = try TestClient(token: "second")
        second.sockets = [first.sockets[0]]
        #expect(second.post(to: gateway) == 201 && second.connectICE())
        #expect(try second.connectDTLS())
        for client in [first, second] { client.sendFrame(isKeyframe: true) }
        for _ in 0..<50 {
            first.sendFrame()
            second.sendFrame()
        }
        for name in ["first", "second"] { #expect(eventually { gateway.output[name]?.video.count == 52 }) }
        #expect(second.delete(at: gateway) == 200)
        first.sendFrame()
        #expect(eventually { gateway.output["first"]?.video.count == 53 })
    }

    @Test func `an encoder that comes back from the same port is not kept out by what it was before`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let before = try #require(try TestClient.connected("encoder", to: gateway))
        before.sendFrame(isKeyframe: true)
        let after = try TestClient(token: "encoder")
        after.sockets = [before.sockets[0]]
        #expect(after.post(to: gateway) == 201 && after.connectICE())
        #expect(try after.connectDTLS())
    }
}

extension TestClient {
    /// A check of this session from somebody else's socket, whose address the gateway sees.
    func check(from socket: ClientSocket) {
        guard let remote else { return }
        socket.send(stun.check(username: ufrag + ":peer", password: password, useCandidate: true), to: remote)
    }
}
