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
    /// The last sequence header of each track, while the main one is not known.
    private var headers: [UInt8: (codec: AudioCodec, body: [UInt8])] = [:]
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

    /// Where nothing has come of track 0, another one is the publish's, with the sequence header that it has sent.
    private func lookForMain(_ tag: AudioTag, _ message: inout MediaMessage) -> Refusal? {
        guard mainTrack.came(tag, at: message.arrival) else { return nil }
        passedOver.removeAll { $0.id == mainTrack.id }
        let header = headers[mainTrack.id]
        headers = [:]
        guard let header else { return nil }
        return unsafe header.body.withUnsafeBytes { unsafe main.configure(header.codec, $0, &message) }
    }

    private func passOver(_ tag: AudioTag, _ message: inout MediaMessage) {
        if !mainTrack.isKnown, tag.packet == .sequenceStart, tag.body.count <= Self.maximumHeaderByteCount,
            headers[tag.trackID] != nil || headers.count < TrackPlaces.maximumTrackCount
        {
            headers[tag.trackID] = unsafe (codec: tag.codec, body: Array(message.body(of: tag)))
        }
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

    /// An OpusHead of 255 channels has 276.
    private static let maximumHeaderByteCount = 512
}
