public import AMF0

/// Why a connection cannot go on. Each ends it; what a session can survive is answered with `_error` instead.
public enum RTMPError: Error, Equatable, Sendable {
    /// C0 is not 3: 6 and 8 are RTMPE, everything else is another protocol.
    case unsupportedVersion(UInt8)
    /// The first bytes are an HTTP request: the peer took the RTMP port for a web server.
    case httpRequest
    /// The first chunk of a chunk stream leaves out what only an earlier one could tell.
    case firstChunkWithoutHeader
    /// A new message header stands where a message was still incomplete.
    case headerInsideMessage
    case tooManyChunkStreams
    case messageTooLong(UInt32)
    /// The declared lengths of all incomplete messages together.
    case tooManyPartialBytes
    case invalidChunkSize(UInt32)
    case invalidWindow
    case malformedControlMessage(type: UInt8)
    case malformedCommand(AMF0Error)
    /// Only control and command messages may come before `publish` has been granted.
    case messageBeforePublish(type: UInt8)
    case commandBeforeConnect
}
