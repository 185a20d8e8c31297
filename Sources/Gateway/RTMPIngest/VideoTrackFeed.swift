import FLV
import H264
import Refusals
import StageHub
import Wire

/// The video of one RTMP publish: FLV tag → access unit → RTP packets. Confined; copies no payload.
final class VideoTrackFeed {
    private let publication: Publication
    private let writer: AccessUnitWriter
    private let inspector: (any MediaInspector)?
    private var record: AVCDecoderConfigurationRecord?
    /// Of the record, at hand for every frame: the record itself would be copied.
    private var lengthSize: Int?
    private var found = NALUnitList()
    private var refusedCodec: VideoCodec?
    /// Of the last frame that was forwarded: its decoding time, and whether a decoder can start there.
    private(set) var lastMediaTime: Duration?
    private(set) var lastWasKeyframe = false

    init(publication: Publication, inspector: (any MediaInspector)?, scratch: PacketScratch) {
        (self.publication, self.inspector) = (publication, inspector)
        writer = AccessUnitWriter(publication: publication, scratch: scratch)
    }

    /// Takes one video message.
    /// - Parameter timestamp: unwrapped milliseconds.
    /// - Returns: what ends the publish.
    func receive(
        _ message: UnsafeRawBufferPointer, timestamp: Int64, arrival: MonotonicTime, _ counters: inout PipelineCounters
    ) -> Refusal? {
        if unsafe message.isEmpty { return nil }  // some encoders send one when they pause
        guard let tag = try? unsafe VideoTag(parsing: message.bytes) else {
            counters.malformed += 1
            return nil
        }
        counters.otherTracks += tag.ignoredTrackCount
        let body = unsafe UnsafeRawBufferPointer(rebasing: message[tag.body])
        switch tag.packet {
        case .sequenceStart where tag.codec == .h264: return unsafe configure(body, arrival: arrival, &counters)
        case .codedFrames where tag.codec == .h264:
            return unsafe forward(body, tag, timestamp: timestamp, arrival: arrival, &counters)
        case .sequenceStart, .codedFrames, .mpeg2TSSequenceStart: return refuse(tag.codec, arrival: arrival, &counters)
        case .sequenceEnd, .metadata, .command, .otherTracks, .reserved: return nil
        }
    }

    /// The inspector hears of a codec once, not at every frame.
    private func refuse(_ codec: VideoCodec, arrival: MonotonicTime, _ counters: inout PipelineCounters) -> Refusal? {
        counters.unsupported += 1
        guard refusedCodec != codec else { return nil }
        refusedCodec = codec
        return inspector?.foundVideoCodec(codec.name, mediaTime: lastMediaTime ?? .zero, arrival: arrival)
    }

    private func configure(
        _ body: UnsafeRawBufferPointer, arrival: MonotonicTime, _ counters: inout PipelineCounters
    ) -> Refusal? {
        guard let new = try? unsafe AVCDecoderConfigurationRecord(parsing: body.bytes), let sps = new.sequenceParameterSets.first,
            let pps = new.pictureParameterSets.first
        else {
            counters.malformed += 1
            return nil
        }
        guard new != record else { return nil }
        let sets = new.sequenceParameterSets + new.pictureParameterSets
        if let refusal = inspector?.videoConfigured(sets, mediaTime: lastMediaTime ?? .zero, arrival: arrival) { return refusal }
        (record, lengthSize) = (new, new.lengthSize)
        if let format = try? unsafe SequenceParameterSet(parsing: sps.span.bytes) {
            publication.counters[.video].setPictureSize(width: format.width, height: format.height)
        }
        let others = new.sequenceParameterSets.dropFirst() + new.pictureParameterSets.dropFirst()
        writer.setParameterSets(sps: sps, pps: pps, others: Array(others))
        return nil
    }

    private func forward(
        _ body: UnsafeRawBufferPointer, _ tag: VideoTag, timestamp: Int64, arrival: MonotonicTime,
        _ counters: inout PipelineCounters
    ) -> Refusal? {
        guard let lengthSize else {
            counters.unconfigured += 1
            return nil
        }
        unsafe found.find(inAccessUnit: body, lengthSize: lengthSize)
        if found.isMalformed { counters.malformed += 1 }
        guard unsafe !found.units.isEmpty else { return nil }
        let stamp = Duration.milliseconds(timestamp) + .nanoseconds(Int64(tag.nanosecondOffset))
        let placed = publication.timeline.place(stamp, of: .video, arrival: arrival)
        let mediaTime = placed + .milliseconds(Int64(tag.compositionTime))
        if let refusal = inspector?.accessUnit(found, mediaTime: placed, arrival: arrival) { return refusal }
        counters.videoFrames += 1
        // An IDR slice makes the keyframe, whatever the FLV frame type claims.
        (lastMediaTime, lastWasKeyframe) = (placed, found.hasIDR)
        unsafe writer.write(found.units, at: mediaTime, isKeyframe: found.hasIDR, arrival: arrival)
        return nil
    }
}
