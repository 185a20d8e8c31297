/// One access unit as a sample of `avc1` has it: NAL units behind lengths of four bytes, without parameter sets.
struct AccessUnit: Equatable {
    /// When it is shown, in ticks of 90 kHz.
    var timestamp: Int64
    var bytes: [UInt8]
    /// A decoder can start here: it has an IDR slice.
    var isKeyframe: Bool
    /// What it is to be decoded with.
    var parameterSets: ParameterSets
}

/// The parameter sets in force, without start codes.
struct ParameterSets: Equatable {
    var sequence: [[UInt8]] = []
    var picture: [[UInt8]] = []

    var isComplete: Bool { !sequence.isEmpty && !picture.isEmpty }

    /// As many as one sample entry holds.
    static let maximumSequenceCount = 31
    static let maximumPictureCount = 64
}
