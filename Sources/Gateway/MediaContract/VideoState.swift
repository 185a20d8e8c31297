import H264
import Wire

/// What the monitor remembers of a video track.
struct VideoState {
    var parameterSets = ParameterSets()
    var cadence = PictureCadence()
    var order = PictureOrder()
    var bucket: BitrateBucket
    /// x264's own words about itself, when it sent them.
    var settings: EncoderSettings?
    /// A picture with known parameter sets, or a codec that is refused, has come.
    var isPresent = false
    /// The sets of the last slice, once judged.
    private(set) var active: SequenceParameterSet?
    private var activePicture: PictureParameterSet?
    private var judgedGeneration = -1
    private var judgedPictureSet: UInt8 = 0
    /// Parameter sets and SEI that came in fragments, put together.
    var fragments = FragmentedUnit()

    private var firstPictureArrival: MonotonicTime?
    private var wasEverLargeEnough = false

    init(bitrateLimit: Int) { bucket = BitrateBucket(limit: bitrateLimit) }

    mutating func limitsChanged(bitrateLimit: Int) {
        bucket.limit = bitrateLimit
        judgedGeneration = -1
    }

    /// The sets of a slice when they must be judged: after a change only. Nil too while a set is missing.
    mutating func setsToJudge(for slice: SliceHeader) -> (SequenceParameterSet, PictureParameterSet)? {
        if judgedGeneration == parameterSets.generation, judgedPictureSet == slice.pictureParameterSetID { return nil }
        guard let sets = parameterSets.sets(ofPicture: slice.pictureParameterSetID) else { return nil }
        (judgedGeneration, judgedPictureSet) = (parameterSets.generation, slice.pictureParameterSetID)
        (active, activePicture) = sets
        isPresent = true
        return sets
    }

    /// Slices of this picture may come in any order, or twice, by the stream's own declaration.
    var allowsAnyOrder: Bool {
        guard let activePicture else { return true }
        return activePicture.sliceGroupCount > 1 || activePicture.redundantPicCntPresent
    }

    mutating func sizeSeen(isLargeEnough: Bool, at now: MonotonicTime) {
        if firstPictureArrival == nil { firstPictureArrival = now }
        if isLargeEnough { wasEverLargeEnough = true }
    }

    /// The picture size when it has been below the minimum since the first picture, that long ago.
    func tooSmallSinceStart(for time: Duration, at now: MonotonicTime) -> (width: Int, height: Int)? {
        guard !wasEverLargeEnough, let start = firstPictureArrival, now - start >= time, let active else { return nil }
        return (active.width, active.height)
    }

    /// Frames a second: declared, or else measured.
    var frameRate: Double? { active?.vui?.timing?.frameRate ?? cadence.frameRate }
}

/// A small NAL unit that comes in FU-A fragments: parameter sets and SEI are put together, of slices the header at most.
struct FragmentedUnit {
    private(set) var bytes: [UInt8] = []
    private(set) var isOpen = false

    static let maximumByteCount = SequenceParameterSet.maximumByteCount

    /// Adds a fragment; true when the unit is whole.
    mutating func add(_ fragment: FUAFragment) -> Bool {
        if fragment.isStart {
            bytes.removeAll(keepingCapacity: true)
            bytes.append(fragment.header.byte)
            isOpen = true
        }
        guard isOpen, unsafe bytes.count + fragment.body.count <= Self.maximumByteCount, bytes.first == fragment.header.byte
        else {
            isOpen = false
            return false
        }
        unsafe bytes.append(contentsOf: fragment.body)
        if fragment.isEnd { isOpen = false }
        return fragment.isEnd
    }

    /// A packet between the fragments was lost, or the rest is not wanted.
    mutating func interrupt() { isOpen = false }
}

/// The parameter sets that a stream has sent, by id: 32 and 256 at most, as the specification numbers them.
struct ParameterSets {
    private var sequenceSets: [SequenceParameterSet?] = []
    private var pictureSets: [PictureParameterSet?] = []
    /// Rises when a set changes; sets sent again as they were do not count.
    private(set) var generation = 0

    /// Takes in one NAL unit of type 7 or 8; one that cannot be read changes nothing.
    mutating func add(_ nalUnit: RawSpan, type: NALUnitType) {
        if type == .sequenceParameterSet {
            if let set = try? SequenceParameterSet(parsing: nalUnit) { add(set) }
        } else if let set = try? PictureParameterSet(parsing: nalUnit) {
            add(set)
        }
    }

    private mutating func add(_ set: SequenceParameterSet) {
        let index = Int(set.id)
        while sequenceSets.count <= index { sequenceSets.append(nil) }
        guard sequenceSets[index] != set else { return }
        sequenceSets[index] = set
        generation += 1
    }

    private mutating func add(_ set: PictureParameterSet) {
        let index = Int(set.id)
        while pictureSets.count <= index { pictureSets.append(nil) }
        guard pictureSets[index] != set else { return }
        pictureSets[index] = set
        generation += 1
    }

    /// Both sets of a slice; nil while one has not come.
    func sets(ofPicture id: UInt8) -> (SequenceParameterSet, PictureParameterSet)? {
        guard Int(id) < pictureSets.count, let picture = pictureSets[Int(id)],
            Int(picture.sequenceParameterSetID) < sequenceSets.count,
            let sequence = sequenceSets[Int(picture.sequenceParameterSetID)]
        else { return nil }
        return (sequence, picture)
    }
}
