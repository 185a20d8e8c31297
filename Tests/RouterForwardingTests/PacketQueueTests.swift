import TestSupport
import Testing

@testable import RouterForwarding

@Suite("Packet queue")
struct PacketQueueTests {
    @Test func `keeps bytes and order over blocks and gives the blocks back`() {
        let queue = PacketQueue<Int>(pool: PacketPool())
        var generator = SplitMix64(seed: 2)
        var expected: [[UInt8]] = []
        for round in 0..<5000 {
            let bytes = (0..<Int.random(in: 1...1500, using: &generator)).map { _ in UInt8(truncatingIfNeeded: round) }
            bytes.withUnsafeBytes { all in
                let cut = Int.random(in: 0...all.count, using: &generator)
                queue.append(
                    UnsafeRawBufferPointer(rebasing: all[..<cut]), UnsafeRawBufferPointer(rebasing: all[cut...]), note: round)
            }
            expected.append(bytes)
            while expected.count > Int.random(in: 0...200, using: &generator) {
                #expect(queue.first.map { Array($0.bytes) } == expected.removeFirst())
                queue.removeFirst()
            }
        }
        #expect(queue.count == expected.count)
        #expect(queue.byteCount == expected.reduce(0) { $0 + $1.count })
        queue.removeAll()
        #expect(queue.isEmpty && queue.byteCount == 0)
    }
}
