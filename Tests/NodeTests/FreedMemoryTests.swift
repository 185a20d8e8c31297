import GatewayMetrics
import Testing

@testable import Node

@Suite
struct FreedMemoryTests {
    /// What stays lies between all that goes, as after a rush: without help the process keeps its size.
    @Test
    func `what was freed between things that stay goes back to the system`() {
        let size = 2_000
        let all = (0..<32_000).map { _ in
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
            unsafe bytes.initializeMemory(as: UInt8.self, repeating: 1)
            return unsafe bytes
        }
        defer { for index in stride(from: 0, to: all.count, by: 16) { unsafe all[index].deallocate() } }
        for (index, bytes) in unsafe all.enumerated() where index % 16 != 0 { unsafe bytes.deallocate() }
        let before = ProcessMetrics.residentBytes
        FreedMemory.giveBack()
        #expect(before - ProcessMetrics.residentBytes > 32_000 * size / 2)
    }
}
