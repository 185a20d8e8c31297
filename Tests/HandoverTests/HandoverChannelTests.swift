import Admission
import EventLoop
import HTTP
import HandoverCodec
import Refusals
import Sockets
import Store
import Testing
import Wire

@testable import Handover

@Suite("Handover channel")
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
        let response = HandedResponse(HTTPResponse(.ok, body: [UInt8](repeating: 7, count: 100_000)))
        for number in 0..<100 { #expect(near.send(.response(number: number, response))) }
        #expect(near.isBehind)
        #expect(loop.run(until: { numbers.count == 100 }, within: .seconds(60)))
        #expect(numbers == Array(0..<100) && !near.isBehind)
    }

    @Test func `a side that never reads is left before it costs too much memory`() {
        let body = [UInt8](repeating: 7, count: 1_000_000)
        var sent = 0
        while near.send(.response(number: 0, HandedResponse(HTTPResponse(.ok, body: body)))), sent < 1_000 { sent += 1 }
        #expect(near.isClosed && !near.isBehind)
        #expect((100...HandoverChannel.maximumWaiting / body.count + 1).contains(sent), "\(sent)")
    }

    @Test func `an offer tells whose address is decided, and one of a process that does not tell is read`() throws {
        let offer = HandoverOffer(generation: 3, workers: 2, descriptors: 5, sessionKey: [1], activated: [.https])
        let encoded = try #require(MessageCodec.encode(offer))
        #expect(try MessageCodec.decode(HandoverOffer.self, from: encoded) == offer)
        struct OlderOffer: Encodable {
            var generation = 3
            var workers = 2
            var descriptors = 5
            var sessionKey = [1]
        }
        let older = try #require(MessageCodec.encode(OlderOffer()))
        let read = try MessageCodec.decode(HandoverOffer.self, from: older)
        #expect(read.descriptors == 5 && read.activated == nil)
    }

    @Test func `descriptors travel with their roles`() throws {
        var received: [(SocketRole, OwnedDescriptor)] = []
        far.onMessage = { message, descriptors in
            if case .sockets(let roles) = message { received = Array(zip(roles, descriptors)) }
        }
        let (a, b) = try DescriptorMessage.makePair()
        near.send(.sockets([SocketRole(.rtmp, worker: 1), SocketRole(.lock)]), [a, b])
        #expect(loop.run(until: { received.count == 2 }, within: .seconds(120)))
        #expect(received.map(\.0) == [SocketRole(.rtmp, worker: 1), SocketRole(.lock)])
    }

    @Test(arguments: ["", "{", "{\"yours\":", "{\"unknown\":{}}", "[]", "{\"hello\":{\"version\":\"x\",\"process\":1}}"])
    func `what is no message closes the channel once`(text: String) throws {
        let (raw, end) = try DescriptorMessage.makePair()
        let channel = HandoverChannel(loop: loop, descriptor: end)
        var closings = 0
        channel.onClosed = { closings += 1 }
        var writer = ByteWriter()
        writer.write(UInt32(text.utf8.count))
        writer.write(contentsOf: text.utf8)
        for frame in MessageFrames.cut(writer.bytes) { try frame.send(over: raw) }
        #expect(loop.run(until: { channel.isClosed }, within: .seconds(120)))
        channel.close()
        #expect(closings == 1)
    }

    @Test func `the other side's end is noticed, after what it said`() throws {
        var heard: [String] = []
        far.onMessage = { message, _ in if case .left = message { heard.append("left") } }
        far.onClosed = { heard.append("closed") }
        near.send(.left)
        near.close()
        #expect(loop.run(until: { far.isClosed }, within: .seconds(120)))
        #expect(heard == ["left", "closed"])
    }

    @Test func `what one side closes is closed for the other, whoever has duplicates`() throws {
        let (a, b) = try DescriptorMessage.makePair()
        let duplicates = try [a.duplicate(), b.duplicate()]
        let (one, other) = (HandoverChannel(loop: loop, descriptor: a), HandoverChannel(loop: loop, descriptor: b))
        other.close()
        #expect(loop.run(until: { one.isClosed }, within: .seconds(120)))
        #expect(!one.send(.left), "and what is said then goes nowhere")
        withExtendedLifetime(duplicates) {}
    }

    @Test func `the connection's end is not the process's: that is known by its life lines`() throws {
        var lives = try (0..<2).map { _ in try DescriptorMessage.makePair() }
        var heard: [String] = []
        (far.onClosed, far.onGone) = ({ heard.append("closed") }, { heard.append("gone") })
        for life in lives { far.follow(life.0) }
        #expect(far.lifeLines.count == 2)
        near.close()
        #expect(loop.run(until: { far.isClosed }, within: .seconds(120)))
        lives.removeFirst()
        #expect(loop.run(until: { far.lifeLines.count == 1 }, within: .seconds(120)))
        #expect(heard == ["closed"], "one of them lives")
        lives = []
        #expect(loop.run(until: { heard.count == 2 }, within: .seconds(120)))
        #expect(heard == ["closed", "gone"])
    }

    @Test func `who ends before all is read is gone only after it`() throws {
        var life: (OwnedDescriptor, OwnedDescriptor)? = try DescriptorMessage.makePair()
        var heard: [String] = []
        far.onMessage = { _, _ in heard.append("message") }
        (far.onClosed, far.onGone) = ({ heard.append("closed") }, { heard.append("gone") })
        if let life { far.follow(life.0) }
        life = nil
        #expect(loop.run(until: { far.lifeLines.isEmpty }, within: .seconds(120)))
        near.send(.left)
        near.close()
        #expect(loop.run(until: { heard.count == 3 }, within: .seconds(120)))
        #expect(heard == ["message", "closed", "gone"])
    }

    @Test(
        arguments: [
            (
                .disconnected(Refusal(.stageFull, sentence: "Somebody said so.")),
                #"{"number":1005,"sentence":"Somebody said so."}"#
            ),
            (.takenOver, #"{"sentence":""}"#),
        ] as [(LeaseEnd, String)])
    func `the end of a lease keeps its words`(end: LeaseEnd, json: String) throws {
        let encoded = try #require(MessageCodec.encode(end))
        #expect(String(decoding: encoded.dropFirst(4), as: UTF8.self) == json)
        #expect(try MessageCodec.decode(LeaseEnd.self, from: encoded) == end)
    }
}
