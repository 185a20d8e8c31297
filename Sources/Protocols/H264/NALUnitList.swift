/// The NAL units of one access unit (RTMP) or one RTP payload (WebRTC), found by a single walk.
///
/// Whoever reads, judges or forwards the bytes goes by this list, so one policy holds for what is malformed, whatever brought it:
/// - empty units and fillers are passed over, which is no fault;
/// - a unit of a type that no RTP payload carries as it is (0, and 24 to 31) is left out;
/// - a broken length ends the walk: what stands before it counts, the rest is given up;
/// - an access unit with start codes in place of lengths, as some encoders leave it, is read by these;
/// - so is a parameter set with start codes in it, behind which Android encoders leave the rest of the picture;
/// - units beyond `maximumCount` are given up.
///
/// A list is meant to be filled again and again: it keeps its room. The units lie in the walked bytes and live as long as those.
@frozen
@safe public struct NALUnitList {
    /// Whole units, header byte first, in decoding order; none of them is empty or a filler.
    public private(set) var units: [UnsafeRawBufferPointer] = unsafe []
    /// An RTP payload that is a part of one unit; there are no whole units then.
    public private(set) var fragment: FUAFragment?
    /// An IDR slice is among the units, or the fragment is of one.
    public private(set) var hasIDR = false
    /// Something was left out or given up.
    public private(set) var isMalformed = false
    /// Where the last unit that counts ends; 0 when nothing was found.
    public private(set) var endOffset = 0

    /// The longest picture that the contract's bitrate rule lets through, 1.275 MB, has 1,063 slices of 1,200 bytes: encoders may
    /// cut them as long as packets are (x264's `slice-max-size`).
    public static let maximumCount = 1_200

    /// An empty list with room for the units of most pictures.
    public init() { unsafe units.reserveCapacity(32) }

    /// Nothing in the bytes could be read.
    @inlinable public var isUnreadable: Bool { isMalformed && endOffset == 0 }

    /// Finds the units of an access unit with a length before each (ISO/IEC 14496-15 §5.3.4.2).
    /// - Parameter lengthSize: 1, 2 or 4, as the sequence header said.
    public mutating func find(inAccessUnit bytes: UnsafeRawBufferPointer, lengthSize: Int) {
        begin()
        unsafe walk(AVCCUnits(bytes, lengthSize: lengthSize), byteCount: bytes.count)
        // A start code looks like the length of a unit of one byte, and what follows that byte like no length.
        guard isMalformed, endOffset <= 5, bytes.count > 4, unsafe UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)) == 1
        else { return }
        begin()
        unsafe addStream(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(4)))
        endOffset = bytes.count
    }

    /// Finds what an RTP payload of packetization mode 1 carries (RFC 6184 §5.2).
    public mutating func find(inPayload payload: UnsafeRawBufferPointer) {
        begin()
        switch unsafe try? RTPPayload(parsing: payload) {
        case .single(let unit): unsafe add(unit, endingAt: payload.count)
        case .aggregation(let units): walk(units.units, byteCount: payload.count)
        case .fragment(let fragment) where fragment.header.type.isWholeUnit:
            (self.fragment, endOffset) = (fragment, payload.count)
            hasIDR = fragment.header.type == .idrSlice
        case .fragment, nil: isMalformed = true
        }
    }

    private mutating func begin() {
        if unsafe !units.isEmpty { unsafe units.removeAll(keepingCapacity: true) }
        fragment = nil
        (hasIDR, isMalformed, endOffset) = (false, false, 0)
    }

    /// - Parameter byteCount: of all that was given; the length-prefixed units are the end of it.
    private mutating func walk(_ lengthPrefixed: AVCCUnits, byteCount: Int) {
        var iterator = lengthPrefixed
        do throws(H264Error) {
            while let unit = unsafe try iterator.next() {
                guard unsafe units.count < Self.maximumCount else { throw .tooLong }
                let end = unsafe byteCount - iterator.bytes.count + iterator.offset
                if unsafe Self.hidesUnits(unit) {
                    unsafe addStream(unit)
                    endOffset = end
                } else {
                    unsafe add(unit, endingAt: end)
                }
            }
        } catch {
            isMalformed = true
        }
    }

    private mutating func add(_ unit: UnsafeRawBufferPointer, endingAt offset: Int) {
        let type = unsafe NALUnitHeader(unit[0]).type
        guard type.isWholeUnit else { return isMalformed = true }
        endOffset = offset
        if type == .filler { return }
        if type == .idrSlice { hasIDR = true }
        unsafe units.append(unit)
    }
}

// MARK: - Start codes (annex B)

extension NALUnitList {
    /// A start code never stands within one unit. Looked for only where it costs little: a sequence parameter set is short.
    private static func hidesUnits(_ unit: UnsafeRawBufferPointer) -> Bool {
        unsafe NALUnitHeader(unit[0]).type == .sequenceParameterSet && startCode(in: unit) != nil
    }

    /// Adds the units between start codes.
    private mutating func addStream(_ stream: UnsafeRawBufferPointer) {
        var rest = unsafe stream
        while unsafe !rest.isEmpty {
            let end = unsafe Self.startCode(in: rest) ?? rest.count
            let unit = unsafe Self.withoutTrailingZeros(rest, end)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(end + 3))
            if unsafe unit.isEmpty { continue }
            guard unsafe units.count < Self.maximumCount else { return isMalformed = true }
            unsafe add(unit, endingAt: 0)
        }
    }

    /// No unit ends with a zero byte: those before a start code are its own (clause B.1.1).
    private static func withoutTrailingZeros(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> UnsafeRawBufferPointer {
        var count = count
        while count > 0, unsafe bytes[count - 1] == 0 { count -= 1 }
        return unsafe UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
    }

    /// Where the next three bytes 0, 0, 1 begin.
    private static func startCode(in bytes: UnsafeRawBufferPointer) -> Int? {
        var index = 0
        while index + 2 < bytes.count {
            if unsafe bytes[index + 2] > 1 {
                index += 3
            } else if unsafe bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 {
                return index
            } else {
                index += 1
            }
        }
        return nil
    }
}
