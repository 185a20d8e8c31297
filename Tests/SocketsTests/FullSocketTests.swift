import CShim
import EventLoop
import Glibc
import TestSupport
import Testing
import Wire

@testable import Sockets

/// Takes runs as the kernel does: as far as there is room, and some not at all.
private final class FakeKernel {
    var datagrams: [[UInt8]] = []
    var calls = 0
    /// Runs that it takes before its buffer is full, and of those at most so many by one call.
    var room = Int.max
    var runsPerCall = Int.max
    /// What the next calls fail with.
    var failures: [CInt] = []
    /// Errno for a run that it does not take; 0 takes it.
    var refusal: (shim_run) -> CInt = { _ in 0 }

    func take(_ runs: UnsafeBufferPointer<shim_run>) -> CInt {
        calls += 1
        if let failure = failures.popLast() { return -failure }
        var taken: CInt = 0
        for run in runs.prefix(runsPerCall) {
            let code = room == 0 ? EAGAIN : refusal(run)
            guard code == 0 else { return taken > 0 ? taken : -code }
            let bytes = [UInt8](UnsafeBufferPointer(start: run.bytes, count: Int(run.count)))
            let size = run.segment_size > 0 ? Int(run.segment_size) : bytes.count
            datagrams += stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
            room -= 1
            taken += 1
        }
        return taken
    }
}

/// Of a socket that sends a turn's runs together to a kernel that does not take all of them. Loopback never does that.
@Suite("Gathered runs, a kernel that does not take them", .timeLimit(.minutes(10)))
struct FullSocketTests {
    private let loop: EventLoop
    private let sender: UDPSocket
    private let kernel = FakeKernel()
    private static let peer = SocketAddress(.loopback, port: 9)

    init() throws {
        loop = try EventLoop()
        sender = try UDPSocket(loop: loop, address: UDPSocketTests.loopback)
        sender.gatherRuns { [kernel] in kernel.take($0) }
    }

    /// Sends bytes, cut into datagrams of two.
    @discardableResult
    private func send(_ bytes: [UInt8], to peer: SocketAddress = peer) -> RunOutcome {
        bytes.withUnsafeBytes { sender.sendRun([$0], segmentSize: 2, to: peer) }
    }

    /// The `number`th run, of three datagrams, and those datagrams.
    private func run(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 5) }
    private func datagrams(of numbers: Range<UInt8>) -> [[UInt8]] { numbers.flatMap { [[$0, $0], [$0, $0], [$0]] } }

    /// - Returns: whether the kernel gets so many in all, a few at a time.
    private func makeRoom(for count: Int) -> Bool {
        let room = loop.schedule(after: .zero, repeating: .milliseconds(1)) { [kernel] in kernel.room = 3 }
        defer { room.cancel() }
        return loop.run(until: { kernel.datagrams.count >= count }, within: .seconds(120))
    }

    @Test func `what a call leaves goes by the next one`() {
        kernel.runsPerCall = 3
        loop.inTurn { for number in UInt8(0)..<40 { send(run(number)) } }
        #expect(kernel.datagrams == datagrams(of: 0..<40))
        #expect(sender.counters.sent == 120)
    }

    @Test func `what has no room goes in order when there is some, and no more is taken until then`() {
        kernel.room = 5
        var (next, writable) = (UInt8(0), 0)
        func sendRest() { while next < 100, send(run(next)).outcome == .sent { next += 1 } }
        sender.onWritable = {
            writable += 1
            sendRest()
        }
        loop.inTurn(sendRest)
        #expect(next == SHIM_RUNS && writable == 0)
        #expect(kernel.datagrams == datagrams(of: 0..<5))
        #expect(sender.counters.sent == 15)
        #expect(makeRoom(for: 300))
        #expect(kernel.datagrams == datagrams(of: 0..<100))
        #expect(sender.counters.sent == 300 && writable > 0)
    }

    @Test func `long runs that wait are bounded by their bytes`() {
        kernel.room = 0
        let long = [UInt8](repeating: 1, count: 50_000)
        let count = RunOutbox.byteCapacity / long.count
        loop.inTurn {
            let outcomes = (0..<10).map { _ in long.withUnsafeBytes { sender.sendRun([$0], segmentSize: 1_000, to: Self.peer) } }
            #expect(outcomes == (0..<10).map { $0 < count ? RunOutcome(count: 50) : RunOutcome(outcome: .wouldBlock) })
        }
    }

    @Test func `nothing goes before what waits`() {
        kernel.room = 0
        loop.inTurn {
            send(run(0))
            #expect(sender.send([1], to: Self.peer) == .wouldBlock)
            kernel.room = 1
            #expect(sender.send([1], to: Self.peer) == .sent)
            #expect(kernel.datagrams == datagrams(of: 0..<1))
        }
        kernel.room = 0
        loop.inTurn { send(run(1)) }
        #expect(send(run(2)) == RunOutcome(outcome: .wouldBlock), "outside of a turn")
    }

    @Test func `a run that is refused as such goes one by one, and waits where there is no room`() {
        var refused = 0
        sender.onRefusal = { refused += $0 }
        kernel.refusal = { $0.segment_size > 0 ? EIO : 0 }
        kernel.room = 2
        loop.inTurn { for number in UInt8(0)..<10 { send(run(number)) } }
        #expect(kernel.datagrams == datagrams(of: 0..<1).dropLast())
        #expect(sender.counters.sent == 2)
        #expect(makeRoom(for: 30))
        #expect(kernel.datagrams == datagrams(of: 0..<10))
        #expect(sender.counters.sent == 30 && refused == 0)

        kernel.room = .max
        kernel.refusal = { run in
            #expect(run.segment_size == 0, "what was refused is not tried again at once")
            return 0
        }
        loop.inTurn { send(run(10)) }
        #expect(kernel.datagrams == datagrams(of: 0..<11))
    }

    @Test func `what is refused is told and costs no other router's anything`() {
        var refused = 0
        sender.onRefusal = { refused += $0 }
        kernel.refusal = { run in run.peer.port == 1 ? EPERM : run.peer.port == 2 ? EINVAL : 0 }
        loop.inTurn {
            send(run(0))
            send(run(7), to: SocketAddress(.loopback, port: 1))
            send(run(1))
            #expect(sender.send([9], to: Self.peer) == .sent)
            #expect(kernel.calls == 3 && refused == 3, "by one call")
            send(run(8), to: SocketAddress(.loopback, port: 2))
            send(run(2))
        }
        #expect(kernel.datagrams == datagrams(of: 0..<3))
        #expect(refused == 6 && sender.counters.sent == 10)
    }

    @Test func `an error of an earlier datagram's router costs nothing, and one that stays a run, but never the way on`() {
        var refused = 0
        sender.onRefusal = { refused += $0 }
        kernel.failures = [ECONNREFUSED]
        loop.inTurn { for number in UInt8(0)..<2 { send(run(number)) } }
        #expect(kernel.datagrams == datagrams(of: 0..<2) && refused == 0)
        kernel.failures = [ECONNREFUSED, ECONNREFUSED]
        loop.inTurn { for number in UInt8(2)..<4 { send(run(number)) } }
        #expect(kernel.datagrams == datagrams(of: 0..<2) + datagrams(of: 3..<4) && refused == 3)
    }
}
