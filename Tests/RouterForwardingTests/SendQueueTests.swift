import RTP
import Sockets
import TestSupport
import Testing
import Wire

@testable import RouterForwarding

/// Takes datagrams as the kernel would, until it is full.
private final class FakeOutput: DatagramOutput {
    var datagrams: [[UInt8]] = []
    var runs: [Int] = []
    var room = Int.max
    var isAwaited = false
    var isPaced = false

    func sendRun(_ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>, segmentSize: Int, to destination: SocketAddress)
        -> RunOutcome
    {
        let bytes = pieces.flatMap { Array($0) }
        let all = stride(from: 0, to: bytes.count, by: segmentSize).map { Array(bytes[$0..<min($0 + segmentSize, bytes.count)]) }
        let taken = all.prefix(room)
        room -= taken.count
        datagrams += taken
        runs.append(taken.count)
        return RunOutcome(count: taken.count, outcome: taken.count < all.count ? .wouldBlock : .sent)
    }
    func awaitWritable(_ queue: SendQueue) { isAwaited = true }
    func pace(_ queue: SendQueue) { isPaced = true }
}

@Suite("Send queue")
struct SendQueueTests {
    private let output = FakeOutput()
    private let batch = WireBatch()
    private let clock = FakeClock()
    private let queue: SendQueue
    private let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: 1200, alignment: 1)

    init() {
        payload.initializeMemory(as: UInt8.self, repeating: 7)
        queue = SendQueue(
            output: output, pool: PacketPool(), scratch: WireBatch(), destination: SocketAddress(.loopback, port: 9))
    }

    private func fill(_ sizes: [Int], from sequenceNumber: UInt16 = 0) {
        batch.removeAll()
        for (index, size) in sizes.enumerated() {
            let header = RTPHeader(
                marker: false, payloadType: 96, sequenceNumber: sequenceNumber + UInt16(index), timestamp: 0, ssrc: 1)
            let body = UnsafeRawBufferPointer(rebasing: payload[..<(size - 14)])
            batch.append(header, head: 0x815C, headCount: 2, payload: body)
        }
    }

    private var sequenceNumbers: [UInt16] { output.datagrams.map { UInt16($0[2]) << 8 | UInt16($0[3]) } }

    @Test func `equal packets go in runs, of which the last packet may be shorter`() {
        fill([100, 100, 50, 60, 60, 90])
        queue.send(batch, spread: .zero, isLongFrame: false, at: clock.now)
        #expect(output.runs == [3, 2, 1])
        #expect(output.datagrams.map(\.count) == [100, 100, 50, 60, 60, 90])
        #expect(output.datagrams[0][12..<14] == [0x5C, 0x81])
    }

    @Test func `a frame of 63 packets goes at once`() {
        fill(Array(repeating: 1200, count: 63))
        queue.send(batch, spread: .milliseconds(8), isLongFrame: false, at: clock.now)
        #expect(output.datagrams.count == 63)
    }

    @Test(arguments: [64, 200])
    func `a longer frame is spread over 8 ms, in order`(_ count: Int) {
        fill(Array(repeating: 1200, count: count))
        queue.send(batch, spread: .milliseconds(8), isLongFrame: true, at: clock.now)
        #expect(output.datagrams.count == 16)
        #expect(output.isPaced)
        for millisecond in 1...8 {
            queue.drain(at: clock.advance(by: .milliseconds(1)))
            let expected = 16 + (count - 16) * millisecond / 8
            #expect(abs(output.datagrams.count - expected) <= 16)
        }
        #expect(sequenceNumbers == Array(0..<UInt16(count)))
        #expect(!queue.isPacing)
    }

    @Test func `frames behind a paced one keep their order`() {
        fill(Array(repeating: 1200, count: 100))
        queue.send(batch, spread: .milliseconds(8), isLongFrame: true, at: clock.now)
        fill([300, 300], from: 100)
        queue.send(batch, spread: .milliseconds(8), isLongFrame: false, at: clock.now)
        for _ in 0..<9 { queue.drain(at: clock.advance(by: .milliseconds(1))) }
        #expect(sequenceNumbers == Array(0..<102))
    }

    @Test func `however much comes, no queue lasts beyond 100 ms`() {
        let start = clock.now
        for _ in 0..<90 {
            fill(Array(repeating: 1200, count: 200))
            queue.send(batch, spread: .milliseconds(100), isLongFrame: true, at: clock.now)
            queue.drain(at: clock.advance(by: .milliseconds(1)))
        }
        while queue.isPacing { queue.drain(at: clock.advance(by: .milliseconds(1))) }
        #expect(output.datagrams.count == 90 * 200)
        #expect(clock.now - start <= .milliseconds(200))
    }

    /// The encoder's way was blocked for five seconds: 150 frames of 9 packets come at once. A default socket buffer holds 90.
    @Test func `what a stalled encoder had to say comes a little at a time`() {
        let start = clock.now
        for frame in 0..<150 {
            fill(Array(repeating: 1200, count: 9), from: UInt16(frame * 9))
            queue.send(batch, spread: .milliseconds(8), isLongFrame: false, at: clock.now)
        }
        var counts = [output.datagrams.count]
        while queue.isPacing {
            queue.drain(at: clock.advance(by: .milliseconds(1)))
            counts.append(output.datagrams.count)
        }
        #expect(counts[0] <= SendQueue.pacingThreshold)
        let inTenMilliseconds = zip(counts, counts.dropFirst(10)).map { $1 - $0 }
        #expect(inTenMilliseconds.allSatisfy { $0 <= 64 }, "\(inTenMilliseconds.max() ?? 0)")
        #expect(sequenceNumbers == Array(0..<1_350))
        #expect(clock.now - start <= SendQueue.maximumCatchUp)
    }

    @Test func `frames that come two at a time go at once`() {
        for frame in 0..<60 {
            fill(Array(repeating: 1200, count: 30), from: UInt16(frame * 30))
            queue.send(batch, spread: .milliseconds(8), isLongFrame: false, at: clock.now)
            #expect(output.datagrams.count == (frame + 1) * 30)
            if frame % 2 == 1 { clock.advance(by: .milliseconds(66)) }
        }
    }

    @Test func `what a full socket refuses is kept and goes out later`() {
        output.room = 2
        fill([100, 100, 100, 40])
        queue.send(batch, spread: .zero, isLongFrame: false, at: clock.now)
        #expect(output.datagrams.count == 2)
        #expect(output.isAwaited && queue.isBlocked && !queue.isPacing)
        fill([70], from: 4)
        queue.send(batch, spread: .zero, isLongFrame: false, at: clock.now)
        #expect(output.datagrams.count == 2)
        output.room = .max
        queue.writableAgain(at: clock.now)
        for _ in 0..<9 { queue.drain(at: clock.advance(by: .milliseconds(1))) }
        #expect(output.datagrams.map(\.count) == [100, 100, 100, 40, 70])
        #expect(sequenceNumbers == [0, 1, 2, 3, 4])
    }

    @Test func `a worker that stood still for a second loses nothing of a long frame`() {
        queue.onDrop = { _ in #expect(Bool(false), "dropped") }
        fill(Array(repeating: 1200, count: 90))
        queue.send(batch, spread: .milliseconds(8), isLongFrame: true, at: clock.now)
        queue.drain(at: clock.advance(by: .seconds(1)))
        #expect(sequenceNumbers == Array(0..<90))
    }

    @Test func `what waits when a track ends goes before its end`() {
        fill(Array(repeating: 1_200, count: 200))
        queue.send(batch, spread: .milliseconds(16), isLongFrame: true, at: clock.now)
        #expect(output.datagrams.count == SendQueue.chunk)
        output.room = 150
        var dropped = 0
        queue.onDrop = { dropped += $0 }
        queue.end(at: clock.now)
        #expect(sequenceNumbers == Array(0..<166) && !queue.isPacing, "as far as the socket takes it")
        #expect(dropped == 34)
    }

    @Test func `nothing that a full socket refuses is kept longer than half a second`() {
        var dropped = 0
        queue.onDrop = { dropped += $0 }
        output.room = 0
        fill([100, 100])
        queue.send(batch, spread: .zero, isLongFrame: false, at: clock.now)
        output.room = .max
        queue.writableAgain(at: clock.advance(by: .milliseconds(501)))
        #expect(output.datagrams.isEmpty)
        #expect(dropped == 2)
    }

    @Test func `a socket that stays full holds no more than half a second of media`() {
        var dropped = 0
        queue.onDrop = { dropped += $0 }
        output.room = 0
        for frame in 0..<50 {
            fill([100], from: UInt16(frame))
            queue.send(batch, spread: .zero, isLongFrame: false, at: clock.advance(by: .milliseconds(20)))
        }
        #expect(dropped == 24)
        output.room = .max
        queue.writableAgain(at: clock.now)
        for _ in 0..<10 { queue.drain(at: clock.advance(by: .milliseconds(1))) }
        #expect(sequenceNumbers == Array(24..<50))
    }
}
