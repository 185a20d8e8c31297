import FLV
import H264
import Refusals
import StageHub
import Wire

/// The video of one RTMP publish: FLV tags of one track or several, each to its own feed. Confined; copies no payload.
///
/// The main track is the publish, and what it may not carry ends it. Further tracks are layers when they can be (`TrackPlaces`),
/// and are passed over when not.
final class VideoTracks {
    private let publication: Publication
    private let inspector: (any MediaInspector)?
    private let scratch: PacketScratch
    private var mainTrack = MainTrack()
    private var main: VideoTrackFeed
    /// Nearly always none.
    private var others: [VideoTrackFeed] = []
    private var places = TrackPlaces()
    /// By place.
    private var writers: [AccessUnitWriter?] = Array(repeating: nil, count: PublishCounters.maximumLayerCount)
    private var hasFurther = false
    /// Of the last frame that was forwarded: its decoding time, and whether a decoder can start there.
    private(set) var lastMediaTime: Duration?
    private(set) var lastWasKeyframe = false

    init(publication: Publication, inspector: (any MediaInspector)?, scratch: PacketScratch) {
        (self.publication, self.inspector, self.scratch) = (publication, inspector, scratch)
        main = VideoTrackFeed(trackID: 0, publication: publication, inspector: inspector)
    }

    /// Takes one video message.
    /// - Returns: what ends the publish.
    func receive(_ message: inout MediaMessage) -> Refusal? {
        guard var tracks = MessageTracks<VideoTag>(of: &message) else {
            publication.counters[.video].count(byteCount: message.byteCount, endsFrame: false)
            return nil
        }
        while let (tag, byteCount) = tracks.next(in: &message) {
            if let refusal = receive(tag, byteCount: byteCount, of: &message) { return refusal }
        }
        return nil
    }

    /// Takes one track's part of a message.
    private func receive(_ tag: VideoTag, byteCount: Int, of message: inout MediaMessage) -> Refusal? {
        guard let feed = feed(of: tag.trackID) else {
            message.counters.otherTracks += 1
            return nil
        }
        if !mainTrack.isKnown, let refusal = lookForMain(tag, at: message.arrival) { return refusal }
        let frames = message.counters.videoFrames
        let refusal = take(tag, feed, &message)
        let isFrame = message.counters.videoFrames > frames
        if isFrame { (lastMediaTime, lastWasKeyframe) = (feed.lastMediaTime, feed.lastWasKeyframe) }
        if places.isContested { places.received(byteCount, of: tag.trackID) }
        if let track = feed.track {
            publication.counters[track].count(byteCount: byteCount, endsFrame: isFrame)
        } else if feed === main, writers[0] == nil {
            publication.counters[.video].count(byteCount: byteCount, endsFrame: false)
        } else {
            message.counters.otherTracks += 1
        }
        return refusal
    }

    private func take(_ tag: VideoTag, _ feed: VideoTrackFeed, _ message: inout MediaMessage) -> Refusal? {
        switch tag.packet {
        case .codedFrames where tag.codec == .h264: return feed.forward(tag, &message)
        case .sequenceStart where tag.codec == .h264:
            guard feed.configure(tag, &message) else { return nil }
            places.configured(feed.trackID, feed.size)
            return assignPlaces(configured: feed, at: message.arrival)
        case .sequenceStart, .codedFrames, .mpeg2TSSequenceStart: return refuse(tag.codec, of: feed, &message)
        case .sequenceEnd, .metadata, .command, .reserved: return nil
        }
    }

    /// Nil for a track beyond those that are followed.
    private func feed(of trackID: UInt8) -> VideoTrackFeed? {
        if trackID == main.trackID { return main }
        if let feed = others.first(where: { $0.trackID == trackID }) { return feed }
        guard others.count + 1 < TrackPlaces.maximumTrackCount else {
            hasFurther = true
            return nil
        }
        let feed = VideoTrackFeed(trackID: trackID, publication: publication, inspector: inspector)
        others.append(feed)
        return feed
    }

    /// Where nothing has come of track 0, another one is the publish.
    /// - Parameter tag: of a track that is followed: the lowest of those is it.
    private func lookForMain(_ tag: VideoTag, at now: MonotonicTime) -> Refusal? {
        guard mainTrack.came(tag, at: now), let feed = feed(of: mainTrack.id) else { return nil }
        others.removeAll { $0 === feed }
        main = feed
        places.mainTrackIs(feed.trackID)
        if let codec = main.refusedCodec, let refusal = inspector?.foundVideoCodec(codec.name, arrival: now) { return refusal }
        return assignPlaces(at: now)
    }

    /// The main track's codec decides about the publish; told once, not at every frame.
    private func refuse(_ codec: VideoCodec, of feed: VideoTrackFeed, _ message: inout MediaMessage) -> Refusal? {
        message.counters.unsupported += 1
        guard feed.isNews(codec) else { return nil }
        guard feed !== main else { return inspector?.foundVideoCodec(codec.name, arrival: message.arrival) }
        places.refused(feed.trackID, codec: codec.name)
        return assignPlaces(at: message.arrival)
    }

    /// Every feed writes where it has its place now.
    /// - Parameter changed: has new parameter sets.
    private func assignPlaces(configured changed: VideoTrackFeed? = nil, at now: MonotonicTime) -> Refusal? {
        for feed in [main] + others {
            let place = places.place(of: feed.trackID)
            guard feed === changed || feed.track?.layer != place else { continue }
            if let refusal = feed.write(to: place.map(writer(at:)), at: now) { return refusal }
        }
        inspector?.layerNames = publication.layerNames
        return nil
    }

    private func writer(at place: UInt8) -> AccessUnitWriter {
        if let writer = writers[Int(place)] { return writer }
        let writer = AccessUnitWriter(publication: publication, track: TrackID(.video, layer: place), scratch: scratch)
        writers[Int(place)] = writer
        return writer
    }

    // MARK: - Time

    /// To be called about once a second: layers are measured, and contests for their places decided.
    /// - Returns: what ends the publish.
    func secondPassed(at now: MonotonicTime) -> Refusal? {
        publication.tick(at: now)
        guard !others.isEmpty else { return nil }
        guard places.secondPassed() else {
            inspector?.layerNames = publication.layerNames
            return nil
        }
        return assignPlaces(at: now)
    }

    /// What is not forwarded.
    func note(in passedOver: inout PassedOverTracks) {
        guard !others.isEmpty, mainTrack.isKnown else { return }
        (passedOver.mainVideo, passedOver.video) = (main.trackID, places.passedOver)
        if hasFurther { passedOver.hasFurther = true }
    }
}
