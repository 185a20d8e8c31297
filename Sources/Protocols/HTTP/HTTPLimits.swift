/// What one request may cost before anybody knows who sends it.
public struct HTTPLimits: Sendable {
    /// Bytes of the request line; a signed URL or a token in a query needs some 4 KiB.
    public var maximumRequestLineLength = 8 * 1024
    /// Bytes of all header fields together, line ends included.
    public var maximumHeaderLength = 16 * 1024
    public var maximumHeaderCount = 100
    /// Bytes of one chunk-size line; extensions are read over.
    public var maximumChunkLineLength = 256
    /// Bytes of all chunk-size lines and trailers of one request: more is a way to send much and say nothing.
    public var maximumChunkOverhead = 16 * 1024

    public init() {}
    public static let standard = HTTPLimits()
}
