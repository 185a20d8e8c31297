import EventLoop
import Testing
import Wire

@testable import Sockets

@Suite("Datagram link")
struct DatagramLinkTests {
    let loop: EventLoop
    let near: DatagramLink
    let far: DatagramLink

    init() throws {
        loop = try EventLoop()
        let (a, b) = try DescriptorMessage.makePair()
        (near, far) = (DatagramLink(loop: loop, descriptor: a), DatagramLink(loop: loop, descriptor: b))
    }

    private func send(_ bytes: [UInt8], _ source: SocketAddress, _ local: IPAddress? = nil) {
        bytes.withUnsafeBytes { near.send($0, from: source, to: local) }
    }

    @Test(arguments: [
        ("192.0.2.1:4711", "198.51.100.7"), ("[2001:db8::1]:1", "2001:db8::2"), ("[2001:db8::1]:65535", nil),
        ("127.0.0.1:9", nil),
    ])
    func `bytes and addresses arrive as they were`(source: String, local: String?) throws {
        let source = try #require(SocketAddress(source))
        let local = local.flatMap { IPAddress($0) }
        var received: [([UInt8], SocketAddress, IPAddress?)] = []
        far.onDatagram = { received.append((Array($0.payload), $0.source, $0.local)) }
        send([1, 2, 3], source, local)
        send([], source, local)
        #expect(loop.run(until: { received.count == 2 }, within: .seconds(120)))
        #expect(received[0] == ([1, 2, 3], source, local) && received[1].0.isEmpty)
    }

    @Test func `a burst greater than the pair's buffer arrives whole and in order`() throws {
        let source = try #require(SocketAddress("192.0.2.1:4711"))
        var numbers: [Int] = []
        var batches = 0
        far.onDatagram = { numbers.append(Int($0.payload[0]) << 8 | Int($0.payload[1])) }
        far.onBatchEnd = { batches += 1 }
        for number in 0..<4_000 {
            send([UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 9, count: 1_200), source)
        }
        #expect(loop.run(until: { numbers.count == 4_000 }, within: .seconds(60)))
        #expect(numbers == Array(0..<4_000) && near.dropped == 0)
        #expect(batches >= 4_000 / DatagramLink.slotCount)
    }

    @Test func `what nobody reads is dropped and counted, not kept for ever`() throws {
        let source = try #require(SocketAddress("192.0.2.1:4711"))
        for _ in 0..<DatagramLink.maximumWaiting * 4 { send([UInt8](repeating: 9, count: 1_200), source) }
        #expect(near.dropped > 0)
        // The queue, and what the pair itself holds.
        #expect(near.sent < DatagramLink.maximumWaiting * 2)
    }

    @Test func `what the kernel refuses is dropped and counted`() throws {
        // Nobody keeps the other end.
        let link = DatagramLink(loop: loop, descriptor: try DescriptorMessage.makePair().0)
        let source = try #require(SocketAddress("192.0.2.1:4711"))
        ([1, 2, 3] as [UInt8]).withUnsafeBytes { link.send($0, from: source, to: nil) }
        #expect(link.dropped == 1 && link.sent == 0)
    }

    @Test func `too long a datagram is dropped`() throws {
        send([UInt8](repeating: 0, count: 2_049), try #require(SocketAddress("192.0.2.1:1")))
        #expect(near.dropped == 1 && near.sent == 0)
    }

    @Test(arguments: [0, 1, 39]) func `a message without a whole header is nobody's`(count: Int) {
        let bytes = [UInt8](repeating: 0xFF, count: count)
        #expect(bytes.withUnsafeBytes { LinkHeader($0) } == nil)
    }
}
