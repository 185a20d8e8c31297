import CTurboJPEG

/// libturbojpeg's compressor. Owns its handle; confined to one thread.
@safe final class JPEGEncoder {
    private let handle: tjhandle
    /// Planes and files are made where those before them were.
    private var planes: [UInt8] = []
    private var file: [UInt8] = []

    /// - Returns: nil when there is no memory for it.
    init?() {
        guard let handle = unsafe tjInitCompress() else { return nil }
        unsafe self.handle = unsafe handle
    }

    deinit { unsafe tjDestroy(handle) }

    /// A JPEG of the picture in its own size; nil when libturbojpeg refuses.
    func encode(_ picture: DecodedPicture) -> [UInt8]? {
        let (width, height) = (picture.width, picture.height)
        let lumaCount = width * height
        let needed = lumaCount + lumaCount / 2
        if planes.count < needed { planes = [UInt8](repeating: 0, count: needed) }
        let bound = Int(clamping: tjBufSize(CInt(width), CInt(height), Self.subsampling))
        guard bound > 0 else { return nil }
        if file.count < bound { file = [UInt8](repeating: 0, count: bound) }
        let colour = JFIFColour(isFullRange: picture.isFullRange, isBT709: picture.isBT709)
        let count = unsafe planes.withUnsafeMutableBufferPointer { planes in
            unsafe colour.convert(picture, into: planes)
            return unsafe compress(planes, width, height)
        }
        return count.map { Array(file.prefix($0)) }
    }

    /// - Returns: how long the file is.
    private func compress(_ planes: UnsafeMutableBufferPointer<UInt8>, _ width: Int, _ height: Int) -> Int? {
        guard let luma = planes.baseAddress else { return nil }
        let blue = unsafe luma + width * height
        var sources: [UnsafePointer<UInt8>?] = unsafe [
            UnsafePointer(luma), UnsafePointer(blue), UnsafePointer(blue + width * height / 4),
        ]
        let strides = [CInt(width), CInt(width / 2), CInt(width / 2)]
        return unsafe file.withUnsafeMutableBufferPointer { file in
            var place = file.baseAddress
            var count = UInt(file.count)
            let status = unsafe tjCompressFromYUVPlanes(
                handle, &sources, CInt(width), strides, CInt(height), Self.subsampling, &place, &count, Self.quality,
                TJFLAG_NOREALLOC)
            return status == 0 ? Int(count) : nil
        }
    }

    private static let subsampling = CInt(TJSAMP_420.rawValue)
    /// Of 100: a picture of 720p has some 100 kB.
    private static let quality: CInt = 80
}
