import StageHub
import Wire

/// What is known of one encoding of a publisher's video: what feeds it, its parameter sets, and when to ask for its keyframes.
struct LayerReception {
    var feed = TrackFeed()
    var keyframes = KeyframeRequests()
    private var parameterSets = ParameterSetKeeper()
    /// Of the last IDR picture of which a part came in time.
    private var keyframeTimestamp: Int64?
    /// Of the last packet with a sequence parameter set.
    private var setsTimestamp: Int64?
    /// Keyframes whose parameter sets nobody knows, and when the first of them came.
    private var undecodableKeyframes = 0
    private var undecodableSince = MonotonicTime.zero

    /// The format that the latest parameter sets describe; nil while one of them is missing.
    var format: TrackFormat? { parameterSets.format }
    /// A decoder can start at an IDR picture.
    var isDecodable: Bool { parameterSets.isComplete }

    /// One or two keyframes may have lost theirs on the way, more of them where they follow each other at once.
    func lacksParameterSets(at now: MonotonicTime) -> Bool {
        undecodableKeyframes > 2 && !isDecodable && now - undecodableSince >= Self.parameterSetPatience
    }

    /// Two of the contract's keyframe intervals and more; some encoders send their sets every few
    /// seconds, whatever their keyframes.
    private static let parameterSetPatience = Duration.seconds(5)

    /// Finds where an IDR picture begins, which alone makes a keyframe; keeps parameter sets.
    /// - Parameter follows: of a first slice, whether the packet before it has come, which may hold the unit's parameter sets.
    mutating func take(
        _ inspection: PayloadInspection, of received: ReceivedPacket, follows: Bool, at now: MonotonicTime
    ) -> PicturePart {
        var part = PicturePart(inspection)
        let timestamp = received.packet.timestamp
        // Another source has a clock of its own.
        if received.replacesFeed { (keyframeTimestamp, setsTimestamp) = (nil, nil) }
        if received.isLate, timestamp < setsTimestamp ?? .min {
            // Its sets, if it has any, hold no longer.
            part.size = nil
        } else if inspection.hasParameterSet {
            part.hasNewFormat = parameterSets.note(inspection)
            if unsafe inspection.sequenceSet != nil { setsTimestamp = timestamp }
        }
        // The first part that comes decides; behind its sets any will do, since the first slice may have been lost and comes
        // again. What is late, or comes behind another part, begins nothing: who began with it would lack what has gone on.
        guard inspection.isOfIDR, !received.isLate, timestamp != keyframeTimestamp else {
            // Also who sends what comes late hears requests.
            if inspection.hasIDR { keyframes.keyframeCame(at: now, isAnswer: false) }
            return part
        }
        keyframeTimestamp = timestamp
        if !isDecodable { noteUndecodable(at: now) }
        // Whoever begins here without the sets decodes nothing until the next one, which is still wanted.
        part.startsKeyframe = setsTimestamp == timestamp || follows
        keyframes.keyframeCame(at: now, isAnswer: part.startsKeyframe)
        return part
    }

    private mutating func noteUndecodable(at now: MonotonicTime) {
        if undecodableKeyframes == 0 { undecodableSince = now }
        undecodableKeyframes += 1
    }
}

extension [LayerReception] {
    /// Not every one is deaf to requests for keyframes.
    var hearRequests: Bool { !allSatisfy(\.keyframes.isDeaf) }

    /// Nobody can decode any, and no contract has judged it.
    func lackParameterSets(at now: MonotonicTime) -> Bool {
        contains { $0.lacksParameterSets(at: now) } && !contains(where: \.isDecodable)
    }

    /// Their keyframes come in the encoder's own time alone.
    var ignoreRequests: Bool {
        let decodable = filter(\.isDecodable)
        return !decodable.isEmpty && decodable.allSatisfy(\.keyframes.ignoresRequests)
    }
}
