import Admission
import EventLoop
import HTTP
import Refusals
import Sockets
import Store
import Testing
import Wire

@testable import Handover

@Suite("Handover channel (DESIGN 4)")
struct HandoverChannelTests {
    let loop: EventLoop
    let near: HandoverChannel
    let far: HandoverChannel

    init() throws {
        loop = try EventLoop()
        let (a, b) = try DescriptorMessage.makePair()
        (near, far) = (HandoverChannel(loop: loop, descriptor: a), HandoverChannel(loop: loop, descriptor: b))
    }

    @Test func `more than the socket holds arrives in order`() {
        var numbers: [Int] = []
        far.onMessage = { message, _ in if case .response(let number, _) = message { numbers.append(number) } }
        let response = HandedResponse(HTTPResponse(.ok, body: [UInt8](repeating: 7, count: 10_000)))
        for number in 0..<500 { near.send(.response(number: number, response)) }
        #expect(loop.run(until: { numbers.count == 500 }, within: .seconds(60)))
        #expect(numbers == Array(0..<500))
    }

    @Test func `descriptors travel with their roles`() throws {
        var received: [(SocketRole, OwnedDescriptor)] = []
        far.onMessage = { message, descriptors in
            if case .sockets(let roles) = message { received = Array(zip(roles, descriptors)) }
        }
        let (a, b) = try DescriptorMessage.makePair()
        near.send(.sockets([SocketRole(.rtmp, worker: 1), SocketRole(.lock)]), [a, b])
        #expect(loop.run(until: { received.count == 2 }, within: .seconds(20)))
        #expect(received.map(\.0) == [SocketRole(.rtmp, worker: 1), SocketRole(.lock)])
    }

    @Test(arguments: ["", "{", "{\"yours\":", "{\"unknown\":{}}", "[]", "{\"hello\":{\"version\":\"x\",\"process\":1}}"])
    func `what is no message closes the channel once`(text: String) throws {
        let (raw, end) = try DescriptorMessage.makePair()
        let channel = HandoverChannel(loop: loop, descriptor: end)
        var closings = 0
        channel.onClosed = { closings += 1 }
        try DescriptorMessage(bytes: Array(text.utf8) + [10]).send(over: raw)
        #expect(loop.run(until: { channel.isClosed }, within: .seconds(20)))
        channel.close()
        #expect(closings == 1)
    }

    @Test func `the other side's end is noticed, after what it said`() throws {
        var (raw, end): (OwnedDescriptor?, OwnedDescriptor) = try DescriptorMessage.makePair()
        let channel = HandoverChannel(loop: loop, descriptor: end)
        var heard: [String] = []
        channel.onMessage = { message, _ in if case .left = message { heard.append("left") } }
        channel.onClosed = { heard.append("closed") }
        try DescriptorMessage(.left, []).send(over: try #require(raw))
        raw = nil
        #expect(loop.run(until: { channel.isClosed }, within: .seconds(20)))
        #expect(heard == ["left", "closed"])
    }

    @Test func `a request and its answer keep what they hold`() throws {
        var request = HTTPRequest(
            method: .patch, target: try #require(HTTPRequestTarget("/whip/sessions/n1-0-ab?x=1")),
            rawTarget: "/whip/sessions/n1-0-ab?x=1", headers: ["If-Match": "\"a\"", "Authorization": "Bearer t"],
            body: Array("a=ice-ufrag:x".utf8), source: try #require(SocketAddress("[2001:db8::1]:4711")))
        request.isSecure = true
        #expect(HandedRequest(request)?.request == request)
        let response = HTTPResponse(.noContent, headers: ["ETag": "\"b\""])
        #expect(HandedResponse(response).response == response)
        request.body = [UInt8](repeating: 0, count: HandedRequest.maximumBodyLength + 1)
        #expect(HandedRequest(request) == nil)
    }

    @Test func `the end of a lease keeps its words`() {
        let refusal = Refusal(.participantDisconnected, sentence: "Somebody said so.")
        #expect(HandedEnd(.disconnected(refusal)).reason == .disconnected(refusal))
        #expect(HandedEnd(.takenOver).reason == .takenOver)
    }
}
