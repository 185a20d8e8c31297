import Testing

@testable import Sockets

@Suite("What comes in on a stream", .timeLimit(.minutes(10)))
struct ReadingSideTests {
    let buffers = StreamBuffers()

    @Test func `what the parser left comes again, in front of what is new`() {
        var reading = ReadingSide()
        #expect(reading.receive([1, 2, 3], in: buffers) == [1, 2, 3])
        #expect(reading.keep([2, 3]) == true)
        #expect(reading.unconsumed == [2, 3])
        #expect(reading.receive([4], in: buffers) == [2, 3, 4])
        #expect(reading.unconsumed.isEmpty)
        #expect(reading.receive([5], in: buffers) == [5])
    }

    @Test func `the longest read goes behind the most that may be left`() {
        let left = [UInt8](repeating: 1, count: TCPStream.maximumUnconsumedBytes)
        let new = [UInt8](repeating: 2, count: buffers.room.count)
        var reading = ReadingSide()
        #expect(reading.keep(left) == true)
        #expect(reading.receive(new, in: buffers) == left + new)
    }

    @Test func `more than may be left is too much, but not while reading is paused`() {
        let much = [UInt8](repeating: 1, count: TCPStream.maximumUnconsumedBytes + 1)
        var reading = ReadingSide()
        #expect(reading.keep(much) == false)
        reading.isPaused = true
        #expect(reading.keep(much) == true)
        #expect(reading.unconsumed == much)
    }

    @Test func `what comes while reading is paused is kept behind what was left`() {
        var reading = ReadingSide(unconsumed: [1], isPaused: true)
        #expect(reading.receive([2], in: buffers) == nil)
        #expect(reading.receive([3, 4], in: buffers) == nil)
        #expect(reading.takeUnconsumed() == [1, 2, 3, 4])
        #expect(reading.unconsumed.isEmpty)
    }

    @Test func `what comes before much that was kept has come again is kept behind it`() {
        let much = [UInt8](repeating: 1, count: TCPStream.maximumUnconsumedBytes + 1)
        var reading = ReadingSide(unconsumed: much)
        let delivered = reading.receive([2], in: buffers)
        #expect(delivered == nil)
        #expect(reading.unconsumed == much + [2])
    }

    @Test func `nothing is wanted of a peer that has finished, or while reading is paused`() {
        #expect(ReadingSide().wantsMore)
        #expect(!ReadingSide(isPaused: true).wantsMore && !ReadingSide(hasPeerFinished: true).wantsMore)
    }
}

extension ReadingSide {
    fileprivate mutating func receive(_ bytes: [UInt8], in buffers: StreamBuffers) -> [UInt8]? {
        buffers.room.copyBytes(from: bytes)
        return received(bytes.count, in: buffers).map { [UInt8]($0) }
    }

    fileprivate mutating func keep(_ rest: [UInt8]) -> Bool { rest.withUnsafeBytes { keep($0) } }
}
