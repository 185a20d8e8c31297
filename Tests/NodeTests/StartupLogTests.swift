import Settings
import Testing

@testable import Node

@Suite
struct StartupLogTests {
    /// By Debian's default of net.core.rmem_max, 212,992 bytes.
    @Test
    func `a media port with less room than it asked for says what to set`() {
        let words = "UDP receive buffers are cut to 208 KiB, 184 packets: sysctl -w net.core.rmem_max=8388608"
        let hint = StartupLog.receiveBufferHint(granted: 2 * 212_992, wanted: .mebibytes(8))
        #expect(hint?.hasPrefix(words) == true, "\(hint ?? "")")
        #expect(StartupLog.receiveBufferHint(granted: 16 << 20, wanted: .mebibytes(8)) == nil)
    }
}
