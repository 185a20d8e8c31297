import EventLoop
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("SingleProducerRing")
struct SingleProducerRingTests {
    private func drained<Element>(_ ring: SingleProducerRing<Element>) -> [Element] {
        var elements: [Element] = []
        ring.drain { _, element in elements.append(element) }
        return elements
    }

    @Test
    func `gives out what was pushed, in order, and takes no more than fits`() {
        let ring = SingleProducerRing<Int>(capacity: 4)
        for round in 0..<3 {
            #expect((0..<6).map { number in ring.push { _ in round * 10 + number } } == [true, true, true, true, false, false])
            #expect(drained(ring) == (0..<4).map { round * 10 + $0 })
            #expect(drained(ring).isEmpty)
            #expect(!ring.push { _ in 99 }, "the slots are not released yet")
            ring.release()
        }
    }

    @Test
    func `tells the producer's slot of each element to both ends, and the oldest that is held`() {
        let ring = SingleProducerRing<Int>(capacity: 4)
        #expect(ring.oldestHeldSlot == nil)
        for number in 0..<10 {
            #expect(ring.push { $0 } && ring.oldestHeldSlot == number % 4)
            ring.drain { slot, element in #expect(slot == number % 4 && element == slot) }
            #expect(ring.oldestHeldSlot == number % 4, "taken out is not released")
            ring.release()
            #expect(ring.oldestHeldSlot == nil)
        }
    }

    @Test
    func `what comes while it is drained waits for the next time, however early its slot is released`() {
        let ring = SingleProducerRing<Int>(capacity: 2)
        ring.push { _ in 1 }
        ring.drain { _, element in
            ring.release()
            ring.push { _ in element + 1 }
        }
        #expect(drained(ring) == [2])
    }

    private final class Token: Sendable {
        private let count: CountBox
        init(_ count: CountBox) {
            self.count = count
            count.living.add(1, ordering: .relaxed)
        }
        deinit { count.living.subtract(1, ordering: .relaxed) }
    }

    private final class CountBox: Sendable { let living = Atomic<Int>(0) }

    @Test
    func `holds each element once, and lets go of all`() {
        let count = CountBox()
        do {
            let ring = SingleProducerRing<Token>(capacity: 8)
            for _ in 0..<5 { ring.push { _ in Token(count) } }
            #expect(count.living.load(ordering: .relaxed) == 5)
            _ = drained(ring)
            #expect(count.living.load(ordering: .relaxed) == 0)
            for _ in 0..<3 { ring.push { _ in Token(count) } }
        }
        #expect(count.living.load(ordering: .relaxed) == 0)
    }

    @Test
    func `allocates nothing`() throws {
        let ring = SingleProducerRing<Int>(capacity: 64)
        let count = try AllocationCounter.count {
            for number in 0..<1_000 {
                ring.push { _ in number }
                ring.drain { _, _ in }
                ring.release()
            }
        }
        #expect(count == 0)
    }

    /// Bytes beside the ring, as datagrams lie: written by one thread, read and spoilt by the other.
    private final class Bytes: Sendable {
        /// Enough that two threads on one busy core take few turns.
        static let count = 256
        nonisolated(unsafe) let base = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
        deinit { base.deallocate() }
    }

    @Test(.timeLimit(.minutes(10)))
    func `between two threads every element comes once, in order and whole, and so does what lies beside it`() throws {
        let (ring, bytes) = (SingleProducerRing<[UInt64]>(capacity: Bytes.count), Bytes())
        let count: UInt64 = 200_000
        let producer = try WorkerThread.start(name: "producer") {
            var number: UInt64 = 0
            while number < count {
                let isPushed = ring.push { slot in
                    bytes.base[slot] = number &* 0x9E37_79B9_7F4A_7C15
                    return [number, ~number]
                }
                if isPushed { number += 1 } else { sched_yield() }
            }
        }
        var (expected, faults): (UInt64, Int) = (0, 0)
        while expected < count {
            let before = expected
            ring.drain { slot, element in
                if element != [expected, ~expected] || bytes.base[slot] != expected &* 0x9E37_79B9_7F4A_7C15 { faults += 1 }
                bytes.base[slot] = 0
                expected += 1
            }
            ring.release()
            if expected == before { sched_yield() }
        }
        producer.join()
        #expect(faults == 0)
    }
}
