import EventLoop
import Sockets
import TestSupport
import Testing
import Wire

/// Of a socket that sends a turn's runs together. The receiver has a loop of its own, so that it can look within a turn.
@Suite("Gathered runs", .timeLimit(.minutes(10)))
struct GatheredRunsTests {
    private let loop: EventLoop
    private let sender: UDPSocket
    private let receiver: Receiver

    private final class Receiver {
        let loop: EventLoop
        let socket: UDPSocket
        var received: [[UInt8]] = []

        init() throws {
            loop = try EventLoop()
            socket = try UDPSocket(loop: loop, address: UDPSocketTests.loopback)
            socket.onDatagrams = { [unowned self] batch in received += batch.map { [UInt8]($0.payload) } }
        }

        func hears(_ expected: [[UInt8]]) -> Bool {
            loop.run(until: { received.count >= expected.count }, within: .seconds(120)) && received == expected
        }

        /// Nothing was sent: it would be here at once.
        var hearsNothing: Bool { !loop.run(until: { !received.isEmpty }, within: .milliseconds(20)) }
    }

    init() throws {
        (loop, receiver) = (try EventLoop(), try Receiver())
        sender = try UDPSocket(loop: loop, address: UDPSocketTests.loopback)
        sender.gatherRuns()
    }

    /// Sends bytes, cut into datagrams of two.
    private func send(_ bytes: [UInt8], to peer: SocketAddress? = nil) -> RunOutcome {
        bytes.withUnsafeBytes { sender.sendRun([$0], segmentSize: 2, to: peer ?? receiver.socket.localAddress) }
    }

    @Test func `runs of a turn leave at its end, in order`() {
        loop.inTurn {
            #expect(send([1, 2, 3, 4, 5]) == RunOutcome(count: 3))
            #expect(send([6]) == RunOutcome(count: 1))
            #expect(receiver.hearsNothing)
        }
        #expect(receiver.hears([[1, 2], [3, 4], [5], [6]]))
        #expect(sender.counters.sent == 4)
    }

    @Test func `what is sent behind them is behind them`() {
        loop.inTurn {
            _ = send([1, 2, 3])
            sender.send([9], to: receiver.socket.localAddress)
            #expect(receiver.hears([[1, 2], [3], [9]]), "within the turn")
        }
    }

    @Test func `more runs than are sent by one call leave in order`() {
        let runs = (0..<100).map { index in [UInt8](repeating: index, count: Int(index) % 7 + 1) }
        loop.inTurn { for run in runs { _ = send(run) } }
        #expect(
            receiver.hears(
                runs.flatMap { run in stride(from: 0, to: run.count, by: 2).map { Array(run[$0..<min($0 + 2, run.count)]) } }))
    }

    @Test func `runs that are long together leave in order`() {
        let runs = (1...20).map { index in [UInt8](repeating: UInt8(index), count: 40_000) }
        loop.inTurn {
            for run in runs {
                let outcome = run.withUnsafeBytes {
                    sender.sendRun([$0], segmentSize: 1_000, to: receiver.socket.localAddress)
                }
                #expect(outcome == RunOutcome(count: 40))
                // The kernel's buffer of the receiver holds few of them.
                _ = receiver.loop.run(until: { receiver.received.count >= sender.counters.sent - 400 }, within: .seconds(120))
            }
        }
        #expect(receiver.hears(runs.flatMap { run in (0..<40).map { _ in [UInt8](run[..<1_000]) } }))
    }

    @Test func `outside of a turn a run leaves at once`() {
        #expect(send([1, 2]) == RunOutcome(count: 1))
        #expect(receiver.hears([[1, 2]]))
    }

    @Test func `a run that the kernel refuses takes none with it`() {
        var refused = 0
        sender.onRefusal = { refused += $0 }
        loop.inTurn {
            #expect(send([1]) == RunOutcome(count: 1))
            #expect(send([2, 2, 2, 2, 2], to: SocketAddress(.loopback, port: 0)) == RunOutcome(count: 3))
            #expect(send([3, 3, 3]) == RunOutcome(count: 2))
            let elsewhere = SocketAddress(.v6(high: 0, low: 1, scope: 0), port: 9)
            #expect(send([4], to: elsewhere) == RunOutcome(count: 1))
        }
        #expect(receiver.hears([[1], [3, 3], [3]]))
        #expect(refused == 4 && sender.counters.sent == 3)
    }

    @Test func `gathering allocates nothing`() {
        let (bytes, peer) = ([UInt8](repeating: 1, count: 5), receiver.socket.localAddress)
        var count: Int?
        loop.inTurn {
            bytes.withUnsafeBytes { piece in
                withUnsafePointer(to: piece) { start in
                    let pieces = UnsafeBufferPointer(start: start, count: 1)
                    count = try? AllocationCounter.count {
                        for _ in 0..<40 { _ = sender.sendRun(pieces, segmentSize: 2, to: peer) }
                        sender.send(piece, to: peer)
                    }
                }
            }
        }
        #expect(count == 0)
    }
}
