public import H264

extension ContractMonitor {
    /// The codec that signalling names, when it is not H.264: refused by name, at once.
    public mutating func videoCodecAnnounced(_ name: String, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        video.isPresent = true
        found(.videoCodec(name: name), at: moment.arrival)
    }

    /// A parameter set from signalling (AVC sequence header, sprop-parameter-sets). Judged when a picture uses it.
    public mutating func parameterSet(_ nalUnit: RawSpan, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard nalUnit.byteCount > 0 else { return }
        let type = NALUnitHeader(nalUnit.unsafeLoad(as: UInt8.self)).type
        if type == .sequenceParameterSet || type == .pictureParameterSet { video.parameterSets.add(nalUnit, type: type) }
    }

    /// One access unit that came whole (RTMP): what the walk over it found.
    public mutating func accessUnit(_ found: NALUnitList, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard !isOver else { return }
        video.order.accessUnitBegan()
        judge(found.units, at: moment)
    }

    /// One RTP payload of the forwarded layer, after SRTP, duplicates and retransmissions left out: what the walk over it found.
    /// - Parameter sequenceNumber: extended.
    public mutating func rtpPayload(_ found: NALUnitList, sequenceNumber: Int64, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard !isOver, !found.isUnreadable else { return }
        if !video.order.packetCame(sequenceNumber) { video.fragments.interrupt() }
        if let fragment = found.fragment {
            self.fragment(fragment, at: moment)
        } else {
            judge(found.units, at: moment)
        }
    }

    private mutating func judge(_ units: [UnsafeRawBufferPointer], at moment: MediaMoment) {
        var byteCount = 0
        for unit in units {
            byteCount += unit.count
            nalUnit(unit, NALUnitHeader(unit[0]), at: moment)
        }
        countBits(byteCount, at: moment)
    }

    private mutating func fragment(_ fragment: FUAFragment, at moment: MediaMoment) {
        let type = fragment.header.type
        if type.hasSliceHeader {
            sliceFragment(fragment, at: moment)
        } else if type == .sei || type == .sequenceParameterSet || type == .pictureParameterSet {
            if video.fragments.add(fragment) {
                video.fragments.bytes.withUnsafeBytes { nalUnit($0, fragment.header, at: moment) }
            }
        }
        countBits(type == .filler ? 0 : fragment.body.count + (fragment.isStart ? 1 : 0), at: moment)
    }

    /// The start fragment has the slice header, unless somebody cuts into it: then the next ones are put behind it.
    private mutating func sliceFragment(_ fragment: FUAFragment, at moment: MediaMoment) {
        if fragment.isStart, let slice = try? SliceHeader(header: fragment.header, payload: fragment.body.bytes) {
            return self.slice(slice, at: moment)
        }
        guard fragment.isStart || video.fragments.isOpen else { return }
        _ = video.fragments.add(fragment)
        guard let slice = try? SliceHeader(parsing: video.fragments.bytes.span.bytes) else { return }
        video.fragments.interrupt()
        self.slice(slice, at: moment)
    }

    private mutating func nalUnit(_ unit: UnsafeRawBufferPointer, _ header: NALUnitHeader, at moment: MediaMoment) {
        switch header.type {
        case .nonIDRSlice, .idrSlice, .partitionA:
            if let slice = try? SliceHeader(parsing: unit.bytes) { self.slice(slice, at: moment) }
        case .sequenceParameterSet, .pictureParameterSet: video.parameterSets.add(unit.bytes, type: header.type)
        case .sei:
            if video.settings == nil, let settings = EncoderSettings(inSEI: unit.bytes) { video.settings = settings }
        default: break
        }
    }

    private mutating func countBits(_ byteCount: Int, at moment: MediaMoment) {
        if byteCount > 0, video.bucket.add(byteCount: byteCount, moment) {
            found(.videoBitrate(bitsPerSecond: video.bucket.measuredRate), at: moment.arrival)
        }
    }
}
