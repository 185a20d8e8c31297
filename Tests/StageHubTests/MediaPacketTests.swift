import StageHub
import Testing

@Suite("A packet on its way")
struct MediaPacketTests {
    @Test(arguments: [3, 5, 6, 8])
    func `a copy has the whole payload in one piece, or is none where there is no room`(room: Int) {
        var memory = [UInt8](repeating: 0, count: room)
        let copied = [UInt8]([3, 4, 5]).withUnsafeBytes { payload -> [UInt8]? in
            let packet = MediaPacket(
                sequenceNumber: 7, timestamp: 9, marker: true, head: 0x030201, headCount: 3, payload: payload)
            return memory.withUnsafeMutableBytes { memory -> [UInt8]? in
                guard let copy = packet.copied(into: memory) else { return nil }
                #expect(copy.sequenceNumber == 7 && copy.timestamp == 9 && copy.marker && copy.headCount == 0)
                return Array(copy.payload)
            }
        }
        let whole: [UInt8] = [1, 2, 3, 3, 4, 5]
        #expect(copied == (room < whole.count ? nil : whole))
        #expect(memory.dropFirst(room < whole.count ? 0 : whole.count).allSatisfy { $0 == 0 })
    }
}
