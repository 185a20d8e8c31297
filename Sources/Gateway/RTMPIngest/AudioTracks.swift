import FLV
import Refusals
import StageHub
import Transcoding
import Wire

/// The audio of one RTMP publish: FLV tags of one track or several, of which the main one goes to its
/// feed. Confined; copies no frame.
///
/// The others are passed over: audio has no layers.
final class AudioTracks {
    private let publication: Publication
    private let main: AudioTrackFeed
    private var mainTrack = MainTrack()
    /// What each track has said of its frames, while the main one is not known: its last sequence header, and its channels.
    private var descriptions: [(tag: AudioTag, body: [UInt8])] = []
    private var passedOver: [PassedOverTracks.Audio] = []
    private var hasFurther = false

    init(
        publication: Publication, inspector: (any MediaInspector)?, transcoder: AudioTranscoder,
        now: @escaping () -> MonotonicTime
    ) {
        self.publication = publication
        main = AudioTrackFeed(publication: publication, inspector: inspector, transcoder: transcoder, now: now)
    }

    /// Of the last frame that was forwarded.
    var lastMediaTime: Duration? { main.lastMediaTime }

    /// Takes one audio message.
    /// - Returns: what ends the publish.
    func receive(_ message: inout MediaMessage) -> Refusal? {
        if let failure = main.failure { return failure }
        guard var tracks = MessageTracks<AudioTag>(of: &message) else {
            publication.counters[.audio].count(byteCount: message.byteCount, endsFrame: false)
            return nil
        }
        while let (tag, byteCount) = tracks.next(in: &message) {
            if !mainTrack.isKnown, let refusal = lookForMain(tag, &message) { return refusal }
            guard tag.trackID == mainTrack.id else {
                passOver(tag, &message)
                continue
            }
            let frames = message.counters.audioFrames
            let refusal = main.take(tag, &message)
            publication.counters[.audio].count(byteCount: byteCount, endsFrame: message.counters.audioFrames > frames)
            if let refusal { return refusal }
        }
        return nil
    }

    /// Where nothing has come of track 0, another one is the publish's, with what it has said of its frames.
    private func lookForMain(_ tag: AudioTag, _ message: inout MediaMessage) -> Refusal? {
        guard mainTrack.came(tag, at: message.arrival) else { return nil }
        passedOver.removeAll { $0.id == mainTrack.id }
        let own = descriptions.filter { $0.tag.trackID == mainTrack.id }
        descriptions = []
        for (tag, body) in own {
            let refusal = unsafe body.withUnsafeBytes { unsafe main.describe(tag.packet, tag.codec, $0, &message) }
            if let refusal { return refusal }
        }
        return nil
    }

    /// The track may turn out to be the main one.
    private func remember(_ tag: AudioTag, _ message: MediaMessage) {
        guard tag.packet == .sequenceStart || tag.packet == .multichannelConfiguration,
            tag.body.count <= Self.maximumDescriptionByteCount
        else { return }
        descriptions.removeAll { $0.tag.trackID == tag.trackID && $0.tag.packet == tag.packet }
        guard descriptions.count < Self.maximumDescriptionCount else { return }
        descriptions.append((tag: tag, body: unsafe Array(message.body(of: tag))))
    }

    private func passOver(_ tag: AudioTag, _ message: inout MediaMessage) {
        if !mainTrack.isKnown { remember(tag, message) }
        message.counters.otherTracks += 1
        guard !passedOver.contains(where: { $0.id == tag.trackID }) else { return }
        if passedOver.count + 1 < TrackPlaces.maximumTrackCount {
            passedOver.append(PassedOverTracks.Audio(id: tag.trackID, codec: tag.codec))
        } else {
            hasFurther = true
        }
    }

    /// What is not forwarded.
    func note(in tracks: inout PassedOverTracks) {
        guard mainTrack.isKnown else { return }
        tracks.audio = passedOver
        if hasFurther { tracks.hasFurther = true }
    }

    /// Nothing more comes back from the transcoder.
    func close() { main.close() }

    /// An OpusHead of 255 channels has 276, their configuration 257.
    private static let maximumDescriptionByteCount = 512
    /// Two of each track.
    private static let maximumDescriptionCount = 2 * TrackPlaces.maximumTrackCount
}
