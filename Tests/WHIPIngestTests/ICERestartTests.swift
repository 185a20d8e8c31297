import Foundation
import HTTP
import Testing

@testable import WHIPIngest

@Suite("ICE restart (RFC 8445 §9, RFC 9725 §4.3)", .timeLimit(.minutes(10)))
struct ICERestartTests {
    @Test func `moves the session to another address and ends the old credentials`() throws {
        let gateway = try TestGateway(workers: 4)
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("restarter", to: gateway))
        client.sendFrame(isKeyframe: true)
        let fragment = "a=ice-ufrag:newpeer\r\na=ice-pwd:9876543210987654321098\r\n"
        let response = gateway.request(
            .patch, client.location,
            headers: ["Content-Type": "application/trickle-ice-sdpfrag", "Authorization": "Bearer restarter", "If-Match": "*"],
            body: Array(fragment.utf8))
        #expect(response.status == .ok && response.headers["ETag"] != client.etag)
        let (oldUfrag, oldPassword) = (client.ufrag, client.password)
        let answer = String(decoding: response.body, as: UTF8.self)
        client.ufrag = String(answer.firstMatch(of: /ice-ufrag:(.*)\r\n/)!.1)
        client.password = Array(answer.firstMatch(of: /ice-pwd:(.*)\r\n/)!.1.utf8)
        client.sockets.append(ClientSocket())
        #expect(client.connectICE(1))
        client.active = 1
        client.sendFrame()
        #expect(eventually { gateway.output["restarter"]?.video.count == 3 })
        client.sockets.append(ClientSocket())
        (client.ufrag, client.password) = (oldUfrag, oldPassword)
        client.check(2)
        #expect(client.sockets[2].receive(within: 200) == nil)
    }
}
