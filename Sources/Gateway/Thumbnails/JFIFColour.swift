/// What a picture's luma and chroma are in a JPEG, whose own are BT.601's over the full range (JFIF 1.02). A value; 14 bits
/// behind the point.
struct JFIFColour: Equatable {
    /// Luma that is black, and what makes the steps above it those of a JPEG.
    private let black: Int32
    private let luma: Int32
    /// What chroma adds to luma, and to itself.
    private let lumaOfCb: Int32
    private let lumaOfCr: Int32
    private let cbOfCb: Int32
    private let cbOfCr: Int32
    private let crOfCb: Int32
    private let crOfCr: Int32

    init(isFullRange: Bool, isBT709: Bool) {
        func fixed(_ value: Double) -> Int32 { Int32((value * Double(1 << Self.shift)).rounded()) }
        let chroma = isFullRange ? 1 : 255.0 / 224
        black = isFullRange ? 0 : 16
        luma = fixed(isFullRange ? 1 : 255.0 / 219)
        (lumaOfCb, lumaOfCr) = isBT709 ? (fixed(chroma * 0.101_579), fixed(chroma * 0.196_076)) : (0, 0)
        (cbOfCb, cbOfCr) = (fixed(chroma * (isBT709 ? 0.989_854 : 1)), isBT709 ? fixed(chroma * -0.110_653) : 0)
        (crOfCb, crOfCr) = (isBT709 ? fixed(chroma * -0.072_453) : 0, fixed(chroma * (isBT709 ? 0.983_398 : 1)))
    }

    /// Writes a picture's three planes without gaps, luma first.
    func convert(_ picture: DecodedPicture, into planes: UnsafeMutableBufferPointer<UInt8>) {
        let (width, height) = (picture.width, picture.height)
        let chromaCount = width / 2 * (height / 2)
        guard let start = planes.baseAddress, planes.count >= width * height + 2 * chromaCount else { return }
        for row in 0..<height / 2 {
            let upper = unsafe start + 2 * row * width
            unsafe convertRows(
                width, from: (picture.row(2 * row, of: 0), picture.row(2 * row + 1, of: 0)),
                (picture.row(row, of: 1), picture.row(row, of: 2)), to: (upper, upper + width),
                (start + width * height + row * width / 2, start + width * height + chromaCount + row * width / 2))
        }
    }

    /// Two rows of luma and the one of chroma between them.
    private func convertRows(
        _ width: Int, from luma: (UnsafePointer<UInt8>, UnsafePointer<UInt8>),
        _ chroma: (UnsafePointer<UInt8>, UnsafePointer<UInt8>),
        to newLuma: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt8>),
        _ newChroma: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt8>)
    ) {
        for column in 0..<width / 2 {
            let (cb, cr) = unsafe (Int32(chroma.0[column]) - 128, Int32(chroma.1[column]) - 128)
            unsafe newChroma.0[column] = Self.byte(cbOfCb &* cb &+ cbOfCr &* cr, above: 128)
            unsafe newChroma.1[column] = Self.byte(crOfCb &* cb &+ crOfCr &* cr, above: 128)
            let added = lumaOfCb &* cb &+ lumaOfCr &* cr
            for index in (2 * column)..<(2 * column + 2) {
                unsafe newLuma.0[index] = Self.byte(self.luma &* (Int32(luma.0[index]) &- black) &+ added, above: 0)
                unsafe newLuma.1[index] = Self.byte(self.luma &* (Int32(luma.1[index]) &- black) &+ added, above: 0)
            }
        }
    }

    private static func byte(_ value: Int32, above zero: Int32) -> UInt8 {
        UInt8(clamping: (value &+ 1 << (shift - 1)) >> shift &+ zero)
    }

    private static let shift: Int32 = 14
}
