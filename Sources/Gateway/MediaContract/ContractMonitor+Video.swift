import H264

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

    /// One access unit of RTMP: length-prefixed NAL units. What cannot be walked is left unjudged from there on.
    /// - Parameter lengthSize: 1, 2 or 4, as the sequence header said.
    public mutating func accessUnit(_ bytes: UnsafeRawBufferPointer, lengthSize: Int, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard !isOver else { return }
        video.order.accessUnitBegan()
        var units = AVCCUnits(bytes, lengthSize: lengthSize)
        var counted = 0
        while let unit = try? units.next() {
            let header = NALUnitHeader(unit[0])
            if header.type != .filler { counted += unit.count }
            nalUnit(unit, header, at: moment)
        }
        countBits(counted, at: moment)
    }

    /// One RTP payload of the forwarded layer, after SRTP, duplicates and retransmissions left out.
    /// - Parameter sequenceNumber: extended.
    public mutating func rtpPayload(_ payload: UnsafeRawBufferPointer, sequenceNumber: Int64, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard !isOver, let parsed = try? RTPPayload(parsing: payload) else { return }
        if !video.order.packetCame(sequenceNumber) { video.fragments.interrupt() }
        switch parsed {
        case .single(let unit):
            let header = NALUnitHeader(unit[0])
            nalUnit(unit, header, at: moment)
            countBits(header.type == .filler ? 0 : unit.count, at: moment)
        case .aggregation(var units):
            var counted = 0
            while let unit = try? units.next() {
                let header = NALUnitHeader(unit[0])
                if header.type != .filler { counted += unit.count }
                nalUnit(unit, header, at: moment)
            }
            countBits(counted, at: moment)
        case .fragment(let fragment): self.fragment(fragment, at: moment)
        }
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
