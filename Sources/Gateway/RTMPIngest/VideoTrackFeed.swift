import FLV
import H264
import Refusals
import StageHub
import Wire

/// One of an encoder's video tracks, with its own parameter sets: access unit → RTP packets, where
/// it has a place among the layers.
final class VideoTrackFeed {
    /// The encoder's number of it.
    let trackID: UInt8
    /// By the parameter sets; nil before they came, and when they cannot be read.
    private(set) var size: PictureSize?
    private let publication: Publication
    private let inspector: (any MediaInspector)?
    /// Nil while it has no place.
    private var writer: AccessUnitWriter?
    private var record: AVCDecoderConfigurationRecord?
    /// The record's, at hand for every frame: to ask the record would be to copy it.
    private var lengthSize: Int?
    private var found = NALUnitList()
    private var parts = PictureParts()
    private(set) var refusedCodec: VideoCodec?
    /// Its place was another track's, whose pictures do not go on in its own: the next one must be a keyframe.
    private var awaitsKeyframe = false
    /// Of the last frame that was forwarded: its decoding time, and whether a decoder can start there.
    private(set) var lastMediaTime: Duration?
    private(set) var lastWasKeyframe = false

    init(trackID: UInt8, publication: Publication, inspector: (any MediaInspector)?) {
        (self.trackID, self.publication, self.inspector) = (trackID, publication, inspector)
    }

    /// Whose packets it writes; nil while it has no place.
    var track: TrackID? { writer?.track }

    /// - Returns: whether this is another codec than the one refused last.
    func isNews(_ codec: VideoCodec) -> Bool {
        guard refusedCodec != codec else { return false }
        refusedCodec = codec
        return true
    }

    /// Takes a sequence header.
    /// - Returns: whether it brings other parameter sets than the last.
    func configure(_ tag: VideoTag, _ message: inout MediaMessage) -> Bool {
        let body = unsafe message.body(of: tag)
        guard let new = try? unsafe AVCDecoderConfigurationRecord(parsing: body.bytes), let sps = new.sequenceParameterSets.first,
            !new.pictureParameterSets.isEmpty
        else {
            message.counters.malformed += 1
            return false
        }
        // A codec that was refused in between makes known ones news.
        guard new != record || refusedCodec != nil else { return false }
        (record, lengthSize, refusedCodec) = (new, new.lengthSize, nil)
        size = unsafe try? SequenceParameterSet(parsing: sps.span.bytes).pictureSize
        return true
    }

    /// Gets, keeps or loses its place; what it writes there begins with its parameter sets.
    /// - Returns: what ends the publish.
    func write(to place: AccessUnitWriter?, at now: MonotonicTime) -> Refusal? {
        if let place, place !== writer { awaitsKeyframe = place.isInUse }
        writer = place
        guard let place, let record, let sps = record.sequenceParameterSets.first,
            let pps = record.pictureParameterSets.first
        else { return nil }
        let refusal = inspector?.videoConfigured(
            record.sequenceParameterSets + record.pictureParameterSets, layer: place.track.layer, arrival: now)
        if let refusal { return refusal }
        if let size {
            publication.setPictureSize(
                width: size.width, height: size.height, of: place.track, rid: "\(trackID)", at: now)
        }
        let others = record.sequenceParameterSets.dropFirst() + record.pictureParameterSets.dropFirst()
        place.setParameterSets(sps: sps, pps: pps, others: Array(others))
        return nil
    }

    /// Takes one access unit.
    /// - Returns: what ends the publish.
    func forward(_ tag: VideoTag, _ message: inout MediaMessage) -> Refusal? {
        guard let lengthSize else {
            message.counters.unconfigured += 1
            return nil
        }
        guard let writer else { return nil }
        unsafe found.find(inAccessUnit: message.body(of: tag), lengthSize: lengthSize)
        if found.isMalformed { message.counters.malformed += 1 }
        guard unsafe !found.units.isEmpty else { return nil }
        if awaitsKeyframe {
            guard found.hasIDR else { return nil }
            awaitsKeyframe = false
        }
        let arrival = message.arrival
        let placed = publication.timeline.place(message.stamp(of: tag), of: writer.track, arrival: arrival)
        let mediaTime = placed + .milliseconds(Int64(tag.compositionTime))
        let timestamp = placed.timestamp(for: .video)
        let refusal = inspector?.accessUnit(found, layer: writer.track.layer, timestamp: timestamp, arrival: arrival)
        if let refusal { return refusal }
        let part = parts.part(found, at: mediaTime)
        // An IDR slice makes the keyframe, whatever the FLV frame type claims.
        let isKeyframe = found.hasIDR && part != .furtherSlices
        if parts.isPicture {
            message.counters.videoFrames += 1
            (lastMediaTime, lastWasKeyframe) = (placed, isKeyframe)
        }
        unsafe writer.write(
            found.units, at: mediaTime, isKeyframe: isKeyframe, part: part, holdsBack: parts.mayGoOn, arrival: arrival)
        return nil
    }
}
