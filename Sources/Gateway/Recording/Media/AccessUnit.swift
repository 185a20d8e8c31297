import H264
import Wire

/// One access unit as a sample of `avc1` has it: NAL units behind lengths of four bytes, without parameter sets.
struct AccessUnit: Equatable {
    /// When it is shown, by the RTP time of its layer.
    var timestamp: Int64
    var bytes: [UInt8]
    /// A decoder can start here: it has an IDR slice.
    var isKeyframe: Bool
    /// What it is to be decoded with.
    var parameterSets: ParameterSets

    /// A sample with its parameter sets, too: behind a delimiter, before which nothing may stand (ITU-T H.264 clause 7.4.1.2.3).
    var bytesWithSets: [UInt8] {
        let delimiter = bytes.prefix(hasDelimiter ? 6 : 0)
        var sample = Array(delimiter)
        for set in parameterSets.sequence + parameterSets.picture {
            sample.append(bigEndian: UInt32(truncatingIfNeeded: set.count))
            sample += set
        }
        return sample + bytes.dropFirst(delimiter.count)
    }

    private var hasDelimiter: Bool { bytes.count > 6 && bytes.starts(with: [0, 0, 0, 2]) && bytes[4] & 0x1F == 9 }

    /// With its parameter sets, behind start codes in place of lengths (H.264 Annex B).
    var annexB: [UInt8] {
        let sets = parameterSets.sequence + parameterSets.picture
        var stream: [UInt8] = []
        stream.reserveCapacity(sets.reduce(bytes.count) { $0 + $1.count + Self.startCode.count })
        for set in sets { stream += Self.startCode + set }
        var rest = bytes[...]
        while rest.count > Self.startCode.count {
            let count = rest.prefix(Self.startCode.count).reduce(0) { $0 << 8 | Int($1) }
            stream += Self.startCode
            stream += rest.dropFirst(Self.startCode.count).prefix(count)
            rest = rest.dropFirst(Self.startCode.count + count)
        }
        return stream
    }

    /// As long as a length.
    private static let startCode: [UInt8] = [0, 0, 0, 1]
}

/// The parameter sets in force, without start codes.
struct ParameterSets: Equatable {
    var sequence: [[UInt8]] = []
    var picture: [[UInt8]] = []

    var isComplete: Bool { !sequence.isEmpty && !picture.isEmpty }

    /// Whether one more, of that many bytes, is taken out of its picture: nobody here reads longer ones, and a sample entry has
    /// 16 bits for the length.
    func hasRoom(forSequence byteCount: Int) -> Bool {
        sequence.count < Self.maximumSequenceCount && byteCount <= SequenceParameterSet.maximumByteCount
    }

    func hasRoom(forPicture byteCount: Int) -> Bool {
        picture.count < Self.maximumPictureCount && byteCount <= PictureParameterSet.maximumByteCount
    }

    /// As many as one sample entry holds.
    private static let maximumSequenceCount = 31
    static let maximumPictureCount = 64
}
