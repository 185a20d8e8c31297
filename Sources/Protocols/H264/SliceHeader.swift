/// The start of a slice header (clause 7.3.3): enough to tell pictures, their parameter sets and B slices apart.
public struct SliceHeader: Equatable, Sendable, BitwiseCopyable {
    /// slice_type modulo 5.
    public enum SliceType: UInt8, Sendable, BitwiseCopyable { case p = 0, b, i, sp, si }

    /// Of an IDR picture.
    public var isIDR: Bool
    /// nal_ref_idc: 0 when no other picture refers to this one.
    public var refIDC: UInt8
    /// first_mb_in_slice: 0 begins a picture.
    public var firstMacroblock: UInt32
    /// What its macroblocks may refer to; B slices refer to later pictures too.
    public var type: SliceType
    /// pic_parameter_set_id, 0 to 255.
    public var pictureParameterSetID: UInt8

    /// Parses the front of a NAL unit of type 1, 2 or 5, its header byte included; the unit may be cut after the header.
    /// - Throws: `.unexpectedType`, `.truncated`, `.codeTooLong`, `.valueOutOfRange`.
    public init(parsing nalUnit: RawSpan) throws(H264Error) {
        self = unsafe try nalUnit.withUnsafeBytes { (bytes) throws(H264Error) in
            guard let first = unsafe bytes.first else { throw .truncated }
            return unsafe try SliceHeader(header: NALUnitHeader(first), bytes)
        }
    }

    /// Parses a slice header whose NAL unit header stands elsewhere, as in a FU-A start fragment (RFC 6184 §5.8).
    /// - Parameter payload: the bytes after the NAL unit header.
    public init(header: NALUnitHeader, payload: RawSpan) throws(H264Error) {
        self = unsafe try payload.withUnsafeBytes { (bytes) throws(H264Error) in
            unsafe try SliceHeader(header: header, bytes, from: 0)
        }
    }

    private init(header: NALUnitHeader, _ bytes: UnsafeRawBufferPointer, from start: Int = 1) throws(H264Error) {
        guard !header.forbiddenZeroBit, header.type.hasSliceHeader else { throw .unexpectedType(header.byte & 0x1F) }
        (isIDR, refIDC) = (header.type == .idrSlice, header.refIDC)
        var reader = unsafe RBSPReader(bytes, from: start)
        firstMacroblock = try reader.readUnsigned(upTo: Self.maximumMacroblock)
        let code = UInt8(try reader.readUnsigned(upTo: 9)) % 5
        guard let type = SliceType(rawValue: code) else { throw .valueOutOfRange }
        self.type = type
        pictureParameterSetID = UInt8(try reader.readUnsigned(upTo: 255))
    }

    /// The last macroblock of the greatest picture we describe.
    static let maximumMacroblock = UInt32(SequenceParameterSet.maximumSide / 16 * (SequenceParameterSet.maximumSide / 16)) - 1
}
