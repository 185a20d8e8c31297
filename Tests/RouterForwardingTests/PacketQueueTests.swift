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

    /// Takes so many blocks at once and gives them back.
    private func burst(of count: Int, from pool: PacketPool) {
        let blocks = (0..<count).map { _ in pool.take() }
        for block in blocks { pool.give(block) }
    }

    @Test func `what an overload took goes by halves, and what each burst takes stays`() {
        let (pool, clock) = (PacketPool(), FakeClock())
        burst(of: 600, from: pool)
        #expect(pool.free.count == PacketPool.maximumFree)
        pool.look(at: clock.advance(by: PacketPool.patience))
        var counts: [Int] = []
        for _ in 0..<7 {
            // Bursts 10 s apart, and a look every second as legs report.
            for second in 1...30 {
                if second % 10 == 5 { burst(of: 100, from: pool) }
                pool.look(at: clock.advance(by: .seconds(1)))
                #expect(pool.free.count >= 100)
            }
            counts.append(pool.free.count)
        }
        #expect(counts == [306, 203, 152, 126, 113, 107, 104])
    }

    @Test func `blocks that nobody has needed at all go too, but for one`() {
        let (pool, clock) = (PacketPool(), FakeClock())
        burst(of: 512, from: pool)
        for _ in 0..<20 { pool.look(at: clock.advance(by: PacketPool.patience)) }
        #expect(pool.free.count == 1)
    }
}
