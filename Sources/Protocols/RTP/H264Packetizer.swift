/// Cuts H.264 access units into RTP payloads of packetization mode 1 (RFC 6184 §6.3): single NAL units, FU-A, and STAP-A with
/// the parameter sets before each IDR picture that does not bring its own.
///
/// Give an access unit's NAL units to `cut`, or one after the other to `append` and then call `finish`. Payload is sliced, never
/// copied; `emit` runs one payload behind, so that the last one can carry the marker. All payloads of one NAL unit but the last
/// are equally long, which is what segmentation offload wants.
///
///     packetizer.setParameterSets([sps, pps])
///     packetizer.cut(nalUnits) { payload in send(payload, marker: payload.isLast) }
@safe public struct H264Packetizer: ~Copyable {
    /// The largest RTP payload: 1,200 bytes of UDP payload less 12 of header and 16 of an SRTP tag.
    @inlinable public static var maximumPayloadByteCount: Int { 1200 - RTPHeader.fixedByteCount - 16 }

    @usableFromInline var pending: H264Payload?
    @usableFromInline var hasParameterSets = false
    /// The access unit that is cut has an IDR picture.
    @usableFromInline var hasIDR = false
    @usableFromInline var aggregated = UnsafeMutableRawBufferPointer.allocate(byteCount: 0, alignment: 1)

    /// Without parameter sets, until `setParameterSets(_:)`.
    public init() {}

    /// Takes the stream's parameter sets, without start codes, to be sent before IDR pictures that lack them.
    ///
    /// Not to be called between `append` and `finish`. Sets too long for one payload are left to the stream itself.
    /// - Parameter sets: sequence parameter sets first, then those that refer to them.
    public mutating func setParameterSets(_ sets: [[UInt8]]) {
        let sets = sets.filter { !$0.isEmpty }
        let count = sets.reduce(1) { $0 + 2 + $1.count }
        let fits = !sets.isEmpty && count <= Self.maximumPayloadByteCount
        unsafe aggregated.deallocate()
        unsafe aggregated = .allocate(byteCount: fits ? count : 0, alignment: 1)
        if fits { aggregate(sets) }
    }

    /// STAP-A (§5.7.1): one header with the highest NRI of the parts, then each part behind its length.
    private func aggregate(_ sets: [[UInt8]]) {
        unsafe aggregated[0] = sets.reduce(0) { max($0, $1[0] & 0x60) } | NALType.stapA
        var offset = 1
        for set in sets {
            unsafe aggregated.storeBytes(of: UInt16(set.count).bigEndian, toByteOffset: offset, as: UInt16.self)
            unsafe UnsafeMutableRawBufferPointer(rebasing: aggregated[(offset + 2)...]).copyBytes(from: set)
            offset += 2 + set.count
        }
    }

    /// Cuts a whole access unit: its NAL units without start codes and lengths, in decoding order.
    /// - Parameter goesOn: these are further slices of the unit before, between which no parameter sets may stand.
    @inlinable
    public mutating func cut(_ nalUnits: [UnsafeRawBufferPointer], goesOn: Bool = false, emit: (H264Payload) -> Void) {
        if goesOn { hasParameterSets = true }
        for index in unsafe nalUnits.indices {
            if let header = unsafe nalUnits[index].first, header & NALType.mask == NALType.idr { hasIDR = true }
        }
        for index in unsafe nalUnits.indices { unsafe append(nalUnits[index], emit: emit) }
        finish(emit: emit)
    }

    /// Cuts the access unit's next NAL unit (without start code or length); empty ones are skipped.
    @inlinable
    public mutating func append(_ nalUnit: UnsafeRawBufferPointer, emit: (H264Payload) -> Void) {
        guard let header = unsafe nalUnit.first else { return }
        switch header & NALType.mask {
        case NALType.sps: hasParameterSets = true
        // A picture set without a sequence set may be newer than the stream's: it stands behind those. Before other pictures it
        // goes alone, because routers take a sequence set for the sign of a keyframe.
        case NALType.pps where hasIDR && !hasParameterSets, NALType.idr where !hasParameterSets:
            hasParameterSets = true  // the picture's other slices need none
            if unsafe !aggregated.isEmpty { unsafe push(H264Payload(body: UnsafeRawBufferPointer(aggregated)), emit) }
        default: break
        }
        if nalUnit.count <= Self.maximumPayloadByteCount {
            unsafe push(H264Payload(body: nalUnit), emit)
        } else {
            unsafe fragment(nalUnit, header: header, emit)
        }
    }

    /// Ends the access unit: its last payload is emitted with the marker.
    @inlinable
    public mutating func finish(emit: (H264Payload) -> Void) {
        if var last = pending {
            last.isLast = true
            emit(last)
        }
        (pending, hasParameterSets, hasIDR) = (nil, false, false)
    }

    /// FU-A (§5.8): the NAL unit's own header byte is spread over indicator and FU header.
    @inlinable
    mutating func fragment(_ nalUnit: UnsafeRawBufferPointer, header: UInt8, _ emit: (H264Payload) -> Void) {
        let step = Self.maximumPayloadByteCount - 2
        let indicator = UInt32(header & 0xE0 | NALType.fuA)
        var offset = 1
        while offset < nalUnit.count {
            let end = min(offset + step, nalUnit.count)
            var fuHeader = UInt32(header & NALType.mask)
            if offset == 1 { fuHeader |= 0x80 }
            if end == nalUnit.count { fuHeader |= 0x40 }
            let body = unsafe UnsafeRawBufferPointer(rebasing: nalUnit[offset..<end])
            unsafe push(H264Payload(head: indicator | fuHeader << 8, headCount: 2, body: body), emit)
            offset = end
        }
    }

    @inlinable
    mutating func push(_ payload: H264Payload, _ emit: (H264Payload) -> Void) {
        if let previous = pending { emit(previous) }
        pending = payload
    }

    deinit { unsafe aggregated.deallocate() }
}

/// NAL unit types that packetization looks at (H.264 table 7-1, RFC 6184 table 1).
@usableFromInline
enum NALType {
    @inlinable static var mask: UInt8 { 0x1F }
    @inlinable static var idr: UInt8 { 5 }
    @inlinable static var sps: UInt8 { 7 }
    @inlinable static var pps: UInt8 { 8 }
    @inlinable static var stapA: UInt8 { 24 }
    @inlinable static var fuA: UInt8 { 28 }
}

/// One RTP payload of H.264 (RFC 6184 §5.2): up to four bytes of header made here, then a slice of the NAL unit where it lies.
@frozen
@safe public struct H264Payload {
    /// Bytes before `body`, first byte in the low bits; `headCount` of them.
    public var head: UInt32
    /// 0 for a single NAL unit and for STAP-A, 2 for FU-A.
    public var headCount: UInt8
    /// A slice of the caller's NAL unit or of the packetizer's parameter sets.
    public var body: UnsafeRawBufferPointer
    /// The last payload of its access unit: the RTP marker bit (RFC 6184 §5.1).
    public var isLast: Bool

    /// From its parts.
    @inlinable
    public init(head: UInt32 = 0, headCount: UInt8 = 0, body: UnsafeRawBufferPointer, isLast: Bool = false) {
        unsafe (self.head, self.headCount, self.body, self.isLast) = unsafe (head, headCount, body, isLast)
    }
}
