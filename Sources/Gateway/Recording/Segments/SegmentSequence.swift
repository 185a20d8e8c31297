import MP4

/// Numbers what is written, and says in order what there is to do: an initialization segment where the tracks have changed, then
/// segments and their parts. A value.
struct SegmentSequence {
    private var actions: [SegmentMachine.Action] = []
    private var initialization: InitializationSegment?
    private var initializationCount: Int
    private var segmentCount: Int
    private var fragmentCount: UInt32 = 0
    /// A part of the segment that is being filled has been given out.
    private(set) var hasBegunSegment = false
    private var isDiscontinuous: Bool
    private var isIndependent = true

    /// - Parameter former: the recording that this one goes on with, if any.
    init(continuing former: SegmentMachine.Position) {
        (initializationCount, segmentCount) = (former.initializations, former.segments)
        isDiscontinuous = former.segments > 0
    }

    /// A part of the segment, which begins with it where none has begun.
    /// - Parameters:
    ///   - duration: of the segment up to the end of this part.
    ///   - time: of the segment's first sample, as it came in.
    mutating func append(
        _ runs: [Fragment.Run], _ duration: Duration, of tracks: TrackDescriptions, segmentAt time: EncoderTime
    ) {
        if !hasBegunSegment { beginSegment(tracks.initialization, at: time) }
        fragmentCount += 1
        var fragment = Fragment(sequenceNumber: fragmentCount)
        fragment.runs = runs
        actions.append(.fragment(fragment, duration: duration))
    }

    /// - Parameter nextIsIndependent: the next segment begins with a keyframe, or with sound where there is nothing else.
    mutating func endSegment(nextIsIndependent: Bool) {
        if hasBegunSegment { actions.append(.segmentEnded) }
        (hasBegunSegment, isIndependent) = (false, nextIsIndependent)
    }

    /// The next segment does not go on with the one before it, if there was one.
    mutating func breakOff() { isDiscontinuous = segmentCount > 0 }

    /// Whether segments of these tracks need the recording's first initialization segment.
    func isFirst(_ needed: InitializationSegment) -> Bool {
        initializationCount == 0 || initializationCount == 1 && needed == initialization
    }

    /// What there is to do since this was asked last.
    mutating func takeActions() -> [SegmentMachine.Action] {
        defer { actions = [] }
        return actions
    }

    private mutating func beginSegment(_ needed: InitializationSegment, at time: EncoderTime) {
        if needed != initialization {
            if initialization != nil { isDiscontinuous = true }
            initialization = needed
            actions.append(.initialization(number: initializationCount, needed))
            initializationCount += 1
        }
        segmentCount += 1
        actions.append(
            .segmentBegan(
                number: segmentCount, map: initializationCount - 1, isDiscontinuous: isDiscontinuous,
                isIndependent: isIndependent, time: time))
        (hasBegunSegment, isDiscontinuous) = (true, false)
    }
}

extension SegmentMachine {
    /// How much of a recording there is already.
    struct Position: Equatable {
        var initializations = 0
        var segments = 0
        var duration = Duration.zero
    }
}
