import H264
import Settings
import Wire

extension ContractMonitor {
    /// One slice header, wherever it stood.
    mutating func slice(_ slice: SliceHeader, at moment: MediaMoment) {
        let place = video.order.place(at: moment.mediaTime)
        if place == .newPicture {
            pictureBegan(at: moment.mediaTime, isIDR: slice.isIDR, now: moment.arrival)
            if video.cadence.pictureBegan(at: moment.mediaTime, isIDR: slice.isIDR) { judgeCadence(at: moment.arrival) }
        }
        if let (sequence, picture) = video.setsToJudge(for: slice) { judge(sequence, picture, at: moment.arrival) }
        if slice.type == .b { found(.bFrames(count: declaredBFrames), at: moment.arrival) }
        if place != .earlierPicture, video.order.isOutOfOrder(slice, at: moment.mediaTime, place), !video.allowsAnyOrder {
            found(.arbitrarySliceOrder, at: moment.arrival)
        }
    }

    private var declaredBFrames: Int? {
        guard let count = video.settings?.bFrames, count > 0 else { return nil }
        return count
    }

    private mutating func judge(_ sequence: SequenceParameterSet, _ picture: PictureParameterSet, at now: MonotonicTime) {
        if !isAdmitted(sequence) { found(.profile(idc: sequence.profileIDC), at: now) }
        if !sequence.frameMbsOnly { found(.interlaced, at: now) }
        if picture.sliceGroupCount > 1 { found(.sliceGroups, at: now) }
        if picture.redundantPicCntPresent { found(.redundantPictures, at: now) }
        judgeSize(sequence.width, sequence.height, at: now)
        if let fault = keyframeFaultFromSettings { found(fault, at: now) }
    }

    private func isAdmitted(_ sequence: SequenceParameterSet) -> Bool {
        switch sequence.profileIDC {
        case SequenceParameterSet.baseline: sequence.isConstrainedBaseline || rules.profile.limit.contains(.baseline)
        case SequenceParameterSet.main: rules.profile.limit.contains(.main)
        case SequenceParameterSet.high: rules.profile.limit.contains(.high)
        default: false
        }
    }

    private mutating func judgeSize(_ width: Int, _ height: Int, at now: MonotonicTime) {
        if width * height > rules.maximumResolution.limit { found(.resolutionAbove(width: width, height: height), at: now) }
        let isLargeEnough = min(width, height) >= rules.minimumResolution.limit
        video.sizeSeen(isLargeEnough: isLargeEnough, at: now)
        guard !isLargeEnough else { return }
        // Browsers begin small and grow: on WHIP time decides, in `timePassed`.
        let isLasting = ingest == .rtmp
        let action = isLasting || rules.minimumResolution.action == .off ? rules.minimumResolution.action : .warn
        found(.resolutionBelow(width: width, height: height), at: now, action: action)
    }

    private mutating func judgeCadence(at now: MonotonicTime) {
        if let rate = video.cadence.frameRate,
            rate < Double(rules.frameRate.minimum) * Self.frameRateTolerance.lowerBound
                || rate > Double(rules.frameRate.maximum) * Self.frameRateTolerance.upperBound
        {
            found(.frameRate(framesPerSecond: rate), at: now)
        }
        guard mustKeepKeyframeInterval else { return }
        if let seconds = video.cadence.keyframeInterval, isTooLong(seconds) {
            found(.keyframeInterval(seconds: seconds), at: now)
        } else if let fault = keyframeFaultFromSettings {
            found(fault, at: now)
        }
    }

    /// What x264 says of its own keyframe interval, once the frame rate is known.
    var keyframeFaultFromSettings: ContractFault? {
        guard mustKeepKeyframeInterval, rules.keyframeInterval.action != .off, let frames = video.settings?.keyframeInterval,
            video.cadence.keyframeInterval == nil, let rate = video.frameRate, rate > 0, rate.isFinite
        else { return nil }
        let seconds = Double(frames) / rate
        return isTooLong(seconds) ? .keyframeInterval(seconds: seconds) : nil
    }

    private func isTooLong(_ seconds: Double) -> Bool { seconds > rules.keyframeInterval.limit.inSeconds * 1.1 }

    /// Rates are measured over three seconds: a picture more or less is no fault.
    static var frameRateTolerance: ClosedRange<Double> { 0.95...1.05 }
}
