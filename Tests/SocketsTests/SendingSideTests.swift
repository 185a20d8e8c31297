import Glibc
import Testing

@testable import Sockets

@Suite("What goes out on a stream", .timeLimit(.minutes(10)))
struct SendingSideTests {
    @Test func `what the kernel does not take at once goes later, in order`() throws {
        let (ours, theirs) = try ends()
        var sending = SendingSide()
        let sent = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        #expect(sending.send(sent, over: ours) == .waiting)
        #expect(sending.send([1, 2, 3], over: ours) == .waiting)
        var received = read(from: theirs)
        #expect(received.count + sending.waitingByteCount == sent.count + 3)
        while sending.flush(over: ours) == .waiting { received += read(from: theirs) }
        received += read(from: theirs)
        #expect(received == sent + [1, 2, 3])
        #expect(sending.isEmpty)
    }

    @Test func `before the connection stands everything waits`() throws {
        let (ours, theirs) = try ends()
        var sending = SendingSide()
        #expect(sending.send([1], over: nil) == .waiting)
        #expect(sending.flush(over: ours) == .done)
        #expect(sending.send([2], over: ours) == .done)
        #expect(read(from: theirs) == [1, 2])
    }

    @Test func `once given up it sends nothing, and says nothing of it`() throws {
        let (ours, _) = try ends()
        var sending = SendingSide()
        #expect(sending.send([1], over: ours) == .broken(EPIPE))
        sending.giveUp(after: EPIPE)
        #expect(sending.send([2], over: ours) == .done)
        #expect(sending.fault == EPIPE && sending.isEmpty)
    }

    /// Two connected ends that nobody waits for.
    private func ends() throws -> (ours: OwnedDescriptor, theirs: OwnedDescriptor) {
        var numbers: [CInt] = [-1, -1]
        let status = socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &numbers)
        try #require(status == 0)
        return (OwnedDescriptor(numbers[0]), OwnedDescriptor(numbers[1]))
    }

    /// All that has arrived.
    private func read(from descriptor: OwnedDescriptor) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case .bytes(let count) = buffer.withUnsafeMutableBytes({ descriptor.receive(into: $0) }) { all += buffer[..<count] }
        return all
    }
}

extension SendingSide {
    fileprivate mutating func send(_ bytes: [UInt8], over descriptor: OwnedDescriptor?) -> Outcome {
        bytes.withUnsafeBytes { send($0, over: descriptor) }
    }
}
