/// One frame of sound as a sample has it.
struct AudioFrame {
    /// Where it begins by the sound's own clock, in samples.
    let ownTimestamp: Int64
    /// In samples.
    let duration: Int64
    let bytes: [UInt8]
}
