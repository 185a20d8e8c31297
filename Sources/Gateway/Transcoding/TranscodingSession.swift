/// One stream on its transcoding thread. Codecs are opened at the first frame and freed with it.
protocol TranscodingSession: AnyObject {
    /// Decodes a frame and adds the packets that it completes, with their times on the media clock.
    func transcode(
        _ frame: UnsafeRawBufferPointer, mediaTime: Int64, into packets: inout PacketBatch
    ) throws(TranscodingError)
}

/// Why a stream's audio cannot be transcoded.
public enum TranscodingError: Error, Equatable, Sendable {
    /// A codec could not be opened with this configuration.
    case unsupportedConfiguration
    /// Decoded frames have another rate than the configuration says (SBR hidden in the stream).
    case formatChanged
    case outOfMemory
}
