import RTP
import TestSupport
import Testing

@Suite("Extended sequence numbers")
struct ExtendedSequenceNumberTests {
    @Test func `sequence numbers wrap upward and late ones stay below`() {
        var extended = ExtendedSequenceNumber()
        #expect(extended.unwrap(65534) == 65534)
        #expect(extended.unwrap(1) == 65537)
        #expect(extended.unwrap(65535) == 65535)
        #expect(extended.highest == 65537)
    }

    @Test func `a first late packet is negative, not two rounds ahead`() {
        var extended = ExtendedSequenceNumber()
        #expect(extended.unwrap(2) == 2)
        #expect(extended.unwrap(65535) == -1)
    }

    @Test func `a walk of many rounds is followed exactly`() {
        var generator = SplitMix64(seed: 1)
        var extended = ExtendedSequenceNumber()
        var number: Int64 = 40_000
        #expect(extended.unwrap(UInt16(number)) == number)
        for _ in 0..<10_000 {
            number += .random(in: 1...3000, using: &generator)
            #expect(extended.unwrap(UInt16(truncatingIfNeeded: number)) == number)
        }
    }
}

@Suite("Sequence index")
struct SequenceIndexTests {
    @Test func `of the last numbers each is found where it was noted, and no other is`() {
        var index = SequenceIndex(capacity: 256)
        var noted: [Int64: Int] = [:]
        var random = SplitMix64(seed: 5)
        var number: Int64 = 40_000
        for position in 0..<5_000 {
            // Gaps, and numbers that come late.
            number += Int64(random.next() % 4)
            let late = number - Int64(random.next() % 8)
            index.note(late, at: position)
            noted[late] = position
            let wanted = (number - 200)...(number + 3)
            #expect(wanted.allSatisfy { index.position(of: $0) == noted[$0] })
        }
    }
}
