import StageHub
import Testing

@testable import WHIPIngest

@Suite("Parameter sets that wait for their slice")
struct WaitingParameterSetsTests {
    @Test func `what waits stays whole while more comes than usual, up to 8,192 bytes`() {
        let sets = WaitingParameterSets()
        let payloads = (0..<9).map { [UInt8](repeating: UInt8($0), count: 900) }
        let kept = payloads.enumerated().map { Self.keep($1, number: Int64($0), in: sets) }
        #expect(kept == Array(repeating: true, count: 9))
        #expect(sets.packets.map(\.sequenceNumber) == Array(0..<9))
        #expect(sets.packets.map { Array($0.payload) } == payloads)
        let isTooMuchKept = Self.keep(payloads[0], number: 9, in: sets)
        #expect(!isTooMuchKept && sets.packets.map { Array($0.payload) } == payloads)
    }

    @Test func `no more than sixteen packets wait, and those of the next picture find room again`() {
        let sets = WaitingParameterSets()
        let kept = (0..<17).map { Self.keep([1], number: $0, in: sets) }
        #expect(kept == Array(repeating: true, count: 16) + [false])
        sets.removeAll()
        #expect(sets.isEmpty)
        let isKept = Self.keep([2, 3], number: 17, in: sets)
        #expect(isKept && sets.packets.map { Array($0.payload) } == [[2, 3]])
    }

    private static func keep(_ payload: [UInt8], number: Int64, in sets: WaitingParameterSets) -> Bool {
        payload.withUnsafeBytes {
            sets.keep(MediaPacket(sequenceNumber: number, timestamp: 0, marker: false, payload: $0))
        }
    }
}
