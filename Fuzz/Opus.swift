// fuzz: module=Opus
import Opus

/// Opus packets and headers of any bytes.
enum OpusFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        if let count = try? TOC.sampleCount(of: bytes) { precondition((1...TOC.maximumSampleCount).contains(count)) }
        if let head = try? OpusHead(parsing: bytes.bytes) { precondition(head.channelCount > 0) }
    }
}
