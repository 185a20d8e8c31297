import FLV
import H264
import Refusals
import StageHub
import Wire

/// The video of one RTMP publish: FLV tag → access unit → RTP packets. Confined; copies no payload.
final class VideoTrackFeed {
    /// No access unit of a Baseline stream has more; the rest of one that does is dropped.
    static let maximumNALUnitCount = 256

    private let publication: Publication
    private let writer: AccessUnitWriter
    private let inspector: (any MediaInspector)?
    private var record: AVCDecoderConfigurationRecord?
    /// Of the record, at hand for every frame: the record itself would be copied.
    private var lengthSize: Int?
    private var nalUnits: [UnsafeRawBufferPointer] = []
    private var refusedCodec: VideoCodec?
    /// Of the last frame that was forwarded: its decoding time, and whether a decoder can start there.
    private(set) var lastMediaTime: Duration?
    private(set) var lastWasKeyframe = false

    init(publication: Publication, inspector: (any MediaInspector)?, scratch: PacketScratch) {
        (self.publication, self.inspector) = (publication, inspector)
        writer = AccessUnitWriter(publication: publication, scratch: scratch)
        nalUnits.reserveCapacity(32)
    }

    /// Takes one video message.
    /// - Parameter timestamp: unwrapped milliseconds.
    /// - Returns: what ends the publish.
    func receive(
        _ message: UnsafeRawBufferPointer, timestamp: Int64, arrival: MonotonicTime, _ counters: inout PipelineCounters
    ) -> Refusal? {
        if message.isEmpty { return nil }  // some encoders send one when they pause
        guard let tag = try? VideoTag(parsing: message.bytes) else {
            counters.malformed += 1
            return nil
        }
        counters.otherTracks += tag.ignoredTrackCount
        let body = UnsafeRawBufferPointer(rebasing: message[tag.body])
        switch tag.packet {
        case .sequenceStart where tag.codec == .h264: return configure(body, arrival: arrival, &counters)
        case .codedFrames where tag.codec == .h264:
            return forward(body, tag, timestamp: timestamp, arrival: arrival, &counters)
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
        guard let new = try? AVCDecoderConfigurationRecord(parsing: body.bytes), let sps = new.sequenceParameterSets.first,
            let pps = new.pictureParameterSets.first
        else {
            counters.malformed += 1
            return nil
        }
        guard new != record else { return nil }
        let sets = new.sequenceParameterSets + new.pictureParameterSets
        if let refusal = inspector?.videoConfigured(sets, mediaTime: lastMediaTime ?? .zero, arrival: arrival) { return refusal }
        (record, lengthSize) = (new, new.lengthSize)
        if let format = try? SequenceParameterSet(parsing: sps.span.bytes) {
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
        // Out of the object while they are collected: no checked access to it for every one.
        var nalUnits = self.nalUnits
        self.nalUnits = []
        defer { self.nalUnits = nalUnits }
        let isKeyframe = Self.collectNALUnits(of: body, lengthSize: lengthSize, into: &nalUnits, &counters)
        guard !nalUnits.isEmpty else { return nil }
        let stamp = Duration.milliseconds(timestamp) + .nanoseconds(Int64(tag.nanosecondOffset))
        let placed = publication.timeline.place(stamp, of: .video, arrival: arrival)
        let mediaTime = placed + .milliseconds(Int64(tag.compositionTime))
        let refusal = inspector?.accessUnit(body, lengthSize: lengthSize, mediaTime: placed, arrival: arrival)
        if let refusal { return refusal }
        counters.videoFrames += 1
        (lastMediaTime, lastWasKeyframe) = (placed, isKeyframe)
        writer.write(nalUnits, at: mediaTime, isKeyframe: isKeyframe, arrival: arrival)
        return nil
    }

    /// Fillers carry nothing and are left out; everything else, SEI too, passes. A broken length ends the access unit there.
    /// - Returns: whether an IDR slice is among the units, whatever the FLV frame type claims.
    private static func collectNALUnits(
        of body: UnsafeRawBufferPointer, lengthSize: Int, into nalUnits: inout [UnsafeRawBufferPointer],
        _ counters: inout PipelineCounters
    ) -> Bool {
        nalUnits.removeAll(keepingCapacity: true)
        var units = AVCCUnits(body, lengthSize: lengthSize)
        var isKeyframe = false
        do throws(H264Error) {
            while nalUnits.count < maximumNALUnitCount, let unit = try units.next() {
                let type = NALUnitHeader(unit[0]).type
                if type == .filler { continue }
                if type == .idrSlice { isKeyframe = true }
                nalUnits.append(unit)
            }
        } catch {
            counters.malformed += 1
        }
        return isKeyframe
    }
}
