import H264
import Settings
import Wire

/// The contract's eye on one layer of video: what it remembers of it, and how it judges its pictures.
struct VideoState {
    /// Its place among the publish's layers.
    private let layer: UInt8
    private(set) var cadence = PictureCadence()
    /// The sets of the last slice, once judged.
    private(set) var active: SequenceParameterSet?
    private var activePicture: PictureParameterSet?
    private var parameterSets = ParameterSetTable()
    private var judgedGeneration = -1
    private var judgedPictureSet: UInt8 = 0
    private var order = PictureOrder()
    /// Parameter sets and SEI that came in fragments, put together.
    private var fragments = FragmentedUnit()
    /// The slice that came last of those that were cut within their headers.
    private var cutSlice = FragmentedUnit()
    private var lacksHeaderOfCutSlice = false
    private var unjudged = UnjudgedPictures()
    /// x264's own words about itself, when it sent them.
    private var settings: EncoderSettings?
    /// By its own words, as long as no interval has shown.
    private var isKeyframeIntervalSuspected = false

    init(layer: UInt8) { self.layer = layer }

    /// Frames a second: declared, or else measured.
    private var frameRate: Double? { active?.vui?.timing?.frameRate ?? cadence.frameRate }

    /// What has been seen of its pictures; nil before the first one.
    var sighting: LayerSighting? {
        active.map {
            LayerSighting(
                place: layer, sequence: $0, frameRate: cadence.frameRate ?? frameRate, keyframeInterval: cadence.keyframeInterval)
        }
    }

    /// There are other limits: the next picture is judged as if its parameter sets were new.
    mutating func limitsChanged() { judgedGeneration = -1 }

    /// A parameter set from signalling (AVC sequence header). Judged when a picture uses it.
    mutating func parameterSet(_ nalUnit: RawSpan) {
        guard nalUnit.byteCount > 0 else { return }
        let type = unsafe NALUnitHeader(nalUnit.unsafeLoad(as: UInt8.self)).type
        if type == .sequenceParameterSet || type == .pictureParameterSet { parameterSets.add(nalUnit, type: type) }
    }
}

// MARK: - NAL units

extension VideoState {
    /// One access unit that came whole.
    /// - Returns: its bytes, as the bitrate counts them.
    mutating func accessUnit(_ found: NALUnitList, at moment: MediaMoment, _ findings: inout ContractFindings) -> Int {
        order.accessUnitBegan()
        return unsafe judge(found.units, at: moment, &findings)
    }

    /// One RTP payload.
    /// - Returns: its bytes, as the bitrate counts them.
    mutating func rtpPayload(
        _ found: NALUnitList, sequenceNumber: Int64, at moment: MediaMoment, _ findings: inout ContractFindings
    ) -> Int {
        order.packetCame(sequenceNumber)
        guard let fragment = found.fragment else { return unsafe judge(found.units, at: moment, &findings) }
        return judge(fragment, sequenceNumber, at: moment, &findings)
    }

    private mutating func judge(
        _ units: [UnsafeRawBufferPointer], at moment: MediaMoment, _ findings: inout ContractFindings
    ) -> Int {
        var byteCount = 0
        for index in unsafe units.indices {
            let unit = unsafe units[index]
            byteCount += unit.count
            unsafe nalUnit(unit, NALUnitHeader(unit[0]), at: moment, &findings)
        }
        return byteCount
    }

    private mutating func judge(
        _ fragment: FUAFragment, _ sequenceNumber: Int64, at moment: MediaMoment, _ findings: inout ContractFindings
    ) -> Int {
        let type = fragment.header.type
        if type.hasSliceHeader {
            sliceFragment(fragment, sequenceNumber, at: moment, &findings)
        } else if type == .sei || type == .sequenceParameterSet || type == .pictureParameterSet {
            if fragments.add(fragment, sequenceNumber), fragment.isEnd {
                unsafe fragments.bytes.withUnsafeBytes { unsafe nalUnit($0, fragment.header, at: moment, &findings) }
            }
        }
        return unsafe type == .filler ? 0 : fragment.body.count + (fragment.isStart ? 1 : 0)
    }

    /// The start fragment has the slice header, unless somebody cuts into it: then the next ones are put behind it. Encoders do
    /// not cut there: a header that never comes whole is no network's doing.
    private mutating func sliceFragment(
        _ fragment: FUAFragment, _ sequenceNumber: Int64, at moment: MediaMoment, _ findings: inout ContractFindings
    ) {
        if fragment.isStart {
            if let slice = try? unsafe SliceHeader(header: fragment.header, payload: fragment.body.bytes) {
                return self.slice(slice, at: moment, &findings)
            }
            if lacksHeaderOfCutSlice { cannotJudge(at: moment, &findings) }
            lacksHeaderOfCutSlice = true
        }
        guard cutSlice.add(fragment, sequenceNumber), let slice = try? unsafe SliceHeader(parsing: cutSlice.bytes.span.bytes)
        else { return }
        cutSlice.close()
        lacksHeaderOfCutSlice = false
        self.slice(slice, at: moment, &findings)
    }

    private mutating func nalUnit(
        _ unit: UnsafeRawBufferPointer, _ header: NALUnitHeader, at moment: MediaMoment, _ findings: inout ContractFindings
    ) {
        switch header.type {
        case .nonIDRSlice, .idrSlice, .partitionA:
            guard let slice = try? unsafe SliceHeader(parsing: unit.bytes) else { return cannotJudge(at: moment, &findings) }
            self.slice(slice, at: moment, &findings)
        case .sequenceParameterSet, .pictureParameterSet: unsafe parameterSets.add(unit.bytes, type: header.type)
        case .sei:
            if let report = unsafe BroadcastPerformance(inSEI: unit.bytes) {
                findings.encoder.add(report, of: layer)
            } else if settings == nil, let settings = unsafe EncoderSettings(inSEI: unit.bytes) {
                (self.settings, findings.isX264) = (settings, true)
            }
        default: break
        }
    }
}

// MARK: - Pictures

extension VideoState {
    /// One slice header, wherever it stood.
    private mutating func slice(_ slice: SliceHeader, at moment: MediaMoment, _ findings: inout ContractFindings) {
        let place = order.place(at: moment.mediaTime)
        if place == .newPicture { pictureBegan(isIDR: slice.isIDR, at: moment, &findings) }
        judgeSets(of: slice, at: moment, &findings)
        if slice.type == .b { found(.bFrames(count: declaredBFrames), at: moment.arrival, &findings) }
        if place != .earlierPicture, order.isOutOfOrder(slice, at: moment.mediaTime, place), !allowsAnyOrder {
            found(.arbitrarySliceOrder, at: moment.arrival, &findings)
        }
    }

    private mutating func pictureBegan(isIDR: Bool, at moment: MediaMoment, _ findings: inout ContractFindings) {
        findings.pictureBegan(of: layer, at: moment.mediaTime, isIDR: isIDR, now: moment.arrival)
        if cadence.pictureBegan(at: moment.mediaTime, isIDR: isIDR, isBehindGap: order.hasGap) {
            judgeCadence(at: moment.arrival, &findings)
        }
    }

    /// After a change only.
    private mutating func judgeSets(of slice: SliceHeader, at moment: MediaMoment, _ findings: inout ContractFindings) {
        if judgedGeneration == parameterSets.generation, judgedPictureSet == slice.pictureParameterSetID { return }
        guard let (sequence, picture) = parameterSets.sets(ofPicture: slice.pictureParameterSetID) else {
            return cannotJudge(at: moment, &findings)
        }
        (judgedGeneration, judgedPictureSet) = (parameterSets.generation, slice.pictureParameterSetID)
        (active, activePicture) = (sequence, picture)
        judge(sequence, picture, at: moment.arrival, &findings)
    }

    private mutating func cannotJudge(at moment: MediaMoment, _ findings: inout ContractFindings) {
        if !unjudged.admit(at: moment) { findings.foundUnjudged(layer, at: moment.arrival) }
    }

    private mutating func judge(
        _ sequence: SequenceParameterSet, _ picture: PictureParameterSet, at now: MonotonicTime,
        _ findings: inout ContractFindings
    ) {
        let size = sequence.pictureSize
        findings.judgedAnew([.videoCodec, .videoProfile, .maximumResolution], of: layer)
        findings.sized(layer, size, in: cadence.pictureTime, at: now)
        if !findings.rules.admits(sequence) { found(.profile(idc: sequence.profileIDC), at: now, &findings) }
        if !sequence.frameMbsOnly { found(.interlaced, at: now, &findings) }
        if picture.sliceGroupCount > 1 { found(.sliceGroups, at: now, &findings) }
        if picture.redundantPicCntPresent { found(.redundantPictures, at: now, &findings) }
        if size.pixelCount > findings.rules.maximumResolution.limit {
            found(.resolutionAbove(width: size.width, height: size.height), at: now, &findings)
        }
        if let fault = keyframeFaultFromSettings(findings) {
            isKeyframeIntervalSuspected = true
            findings.suspected(fault, of: layer, at: now)
        }
    }

    private mutating func judgeCadence(at now: MonotonicTime, _ findings: inout ContractFindings) {
        if let rate = cadence.frameRate { findings.judge(frameRate: rate, of: layer, at: now) }
        guard findings.mustKeepKeyframeInterval else { return }
        if let seconds = cadence.keyframeInterval, findings.rules.isTooLong(keyframeInterval: seconds) {
            found(.keyframeInterval(seconds: seconds), at: now, &findings)
        } else if cadence.keyframeInterval != nil, isKeyframeIntervalSuspected {
            isKeyframeIntervalSuspected = false
            findings.judgedAnew([.keyframeInterval], of: layer)
        } else if let fault = keyframeFaultFromSettings(findings) {
            found(fault, at: now, &findings)
        }
    }

    /// What x264 says of its own keyframe interval, once the frame rate is known. ffmpeg's `-force_key_frames` goes before it.
    private func keyframeFaultFromSettings(_ findings: borrowing ContractFindings) -> ContractFault? {
        guard findings.mustKeepKeyframeInterval, let frames = settings?.keyframeInterval, cadence.keyframeInterval == nil,
            let rate = frameRate, rate > 0, rate.isFinite
        else { return nil }
        let seconds = Double(frames) / rate
        return findings.rules.isTooLong(keyframeInterval: seconds) ? .keyframeInterval(seconds: seconds) : nil
    }

    private func found(_ fault: ContractFault, at now: MonotonicTime, _ findings: inout ContractFindings) {
        findings.found(fault, of: layer, in: cadence.pictureTime, at: now)
    }

    private var declaredBFrames: Int? {
        guard let count = settings?.bFrames, count > 0 else { return nil }
        return count
    }

    /// Slices of this picture may come in any order, or twice, by the stream's own declaration.
    private var allowsAnyOrder: Bool {
        guard let activePicture else { return true }
        return activePicture.sliceGroupCount > 1 || activePicture.redundantPicCntPresent
    }
}
