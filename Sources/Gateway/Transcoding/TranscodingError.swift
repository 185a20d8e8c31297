/// Why a stream's audio cannot be transcoded.
public enum TranscodingError: Error, Equatable, Sendable {
    /// A codec could not be opened with this configuration.
    case unsupportedConfiguration
    /// Decoded frames have another rate than the configuration says (SBR hidden in the stream).
    case formatChanged
    case outOfMemory
}
