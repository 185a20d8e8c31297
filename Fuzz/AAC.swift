// fuzz: module=AAC
import AAC

/// An AudioSpecificConfig of any bytes parses or throws, and keeps what it was given.
enum AACFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let config = try? AudioSpecificConfig(parsing: bytes.bytes) else { return }
        precondition(config.sampleRate > 0 && config.bytes.elementsEqual(bytes))
        precondition(!(config.isLowComplexity && config.hasParametricStereo))
    }
}
