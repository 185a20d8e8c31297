import StageHub
import Wire

/// What is known of one encoding of a publisher's video: what feeds it, its parameter sets, and when to ask for its keyframes.
struct LayerReception {
    var feed = TrackFeed()
    var keyframes = KeyframeRequests()
    private var parameterSets = ParameterSetKeeper()
    private var keyframeTimestamp: Int64?
    /// Keyframes whose parameter sets nobody knows.
    private var undecodableKeyframes = 0

    /// The format that the latest parameter sets describe; nil while one of them is missing.
    var format: TrackFormat? { parameterSets.format }
    /// A decoder can start at an IDR picture.
    var isDecodable: Bool { parameterSets.isComplete }
    /// One or two may have lost theirs on the way.
    var lacksParameterSets: Bool { undecodableKeyframes > 2 && !isDecodable }

    /// Finds the first packet of an IDR access unit; keeps its parameter sets.
    /// - Parameter follows: whether the packet before this one has come, which may hold the unit's parameter sets.
    mutating func noteKeyframe(
        _ inspection: PayloadInspection, in received: inout ReceivedPacket, follows: Bool, at now: MonotonicTime
    ) {
        if inspection.hasParameterSet { received.hasNewFormat = parameterSets.note(inspection) }
        if inspection.hasIDR {
            keyframes.keyframeCame(at: now)
            received.hasIDR = true
        }
        guard inspection.startsKeyframe, keyframeTimestamp != received.packet.timestamp else { return }
        keyframeTimestamp = received.packet.timestamp
        if !isDecodable { undecodableKeyframes += 1 }
        // Whoever begins here without the sets decodes nothing until the next one.
        received.startsKeyframe = unsafe inspection.sequenceSet != nil || follows
    }
}

extension [LayerReception] {
    /// Not every one is deaf to requests for keyframes.
    var hearRequests: Bool { !allSatisfy(\.keyframes.isDeaf) }

    /// Nobody can decode any, and no contract has judged it.
    var lackParameterSets: Bool { contains(where: \.lacksParameterSets) && !contains(where: \.isDecodable) }

    /// Their keyframes come in the encoder's own time alone.
    var ignoreRequests: Bool {
        let decodable = filter(\.isDecodable)
        return !decodable.isEmpty && decodable.allSatisfy(\.keyframes.ignoresRequests)
    }
}
