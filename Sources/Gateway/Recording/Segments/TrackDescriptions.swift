import AAC
import H264
import MP4

/// How both tracks are to be decoded, and the initialization segment that says so. A value.
struct TrackDescriptions {
    /// Nil where there is no sound.
    var audio: SampleDescription?
    /// Nil where there are no pictures.
    private(set) var video: SampleDescription?
    private var parameterSets: ParameterSets?

    /// Whether a picture is of the kind that is described.
    func describes(_ unit: AccessUnit) -> Bool { video != nil && (!unit.isKeyframe || unit.parameterSets == parameterSets) }

    /// How the pictures that follow are to be decoded.
    mutating func describe(_ description: SampleDescription, by sets: ParameterSets) {
        (video, parameterSets) = (description, sets)
    }

    /// There are no pictures.
    mutating func removeVideo() { (video, parameterSets) = (nil, nil) }

    /// Samples of sound a second.
    var audioTimescale: Int64 {
        if case .aac(let configuration)? = audio { Int64(configuration.sampleRate) } else { 48_000 }
    }

    var initialization: InitializationSegment {
        var tracks: [MovieTrack] = []
        if let video {
            tracks.append(MovieTrack(id: Self.videoTrackID, timescale: MovieTrack.videoTimescale, description: video))
        }
        if let audio {
            tracks.append(MovieTrack(id: Self.audioTrackID, timescale: UInt32(clamping: audioTimescale), description: audio))
        }
        return InitializationSegment(tracks: tracks)
    }

    static let videoTrackID: UInt32 = 1
    static let audioTrackID: UInt32 = 2
}

extension SampleDescription {
    /// By parameter sets; nil when they cannot be read.
    init?(_ sets: ParameterSets) {
        guard sets.isComplete, let sequence = sets.sequence.first, sequence.count >= 4,
            let parsed = unsafe try? SequenceParameterSet(parsing: sequence.span.bytes)
        else { return nil }
        var record = AVCDecoderConfigurationRecord(sequenceParameterSet: sequence, pictureParameterSet: sets.picture[0])
        record.sequenceParameterSets = sets.sequence
        record.pictureParameterSets = sets.picture
        self = .h264(record, width: parsed.width, height: parsed.height)
    }
}
