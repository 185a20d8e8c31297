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
    /// More than `ChunkLimits.chunkStreamCount`.
    case tooManyChunkStreams
    /// More bytes than `ChunkLimits` take of its type.
    case messageTooLong(UInt32)
    /// The declared lengths of all incomplete messages together.
    case tooManyPartialBytes
    /// 0, or with the highest bit set (RTMP 1.0 §5.4.1).
    case invalidChunkSize(UInt32)
    /// A Window Acknowledgement Size of 0.
    case invalidWindow
    /// A control message that is shorter than its fields.
    case malformedControlMessage(type: UInt8)
    /// A command whose AMF 0 cannot be read.
    case malformedCommand(AMF0Error)
    /// Only control and command messages may come before `publish` has been granted.
    case messageBeforePublish(type: UInt8)
    /// `connect` comes first.
    case commandBeforeConnect
}

extension RTMPError {
    /// What was wrong, in words for an encoder's log; holds nothing that the peer sent but numbers.
    public var explanation: String {
        switch self {
        case .unsupportedVersion(let version) where version == 6 || version == 8:
            "encrypted RTMP (RTMPE, version \(version)) is not supported: use rtmp:// or rtmps://"
        case .unsupportedVersion(let version): "the first byte is \(version), not RTMP's version 3"
        case .httpRequest: "an HTTP request came to the RTMP port"
        case .firstChunkWithoutHeader: "the first chunk of a chunk stream has no message header"
        case .headerInsideMessage: "a new message header stands inside an unfinished message"
        case .tooManyChunkStreams: "too many chunk streams are in use"
        case .messageTooLong(let length): "a message of \(length) bytes is longer than allowed"
        case .tooManyPartialBytes: "too many unfinished messages are under way"
        case .invalidChunkSize(let size): "a chunk size of \(size) is not allowed"
        case .invalidWindow: "an acknowledgement window of 0 is not allowed"
        case .malformedControlMessage(let type): "a control message of type \(type) is too short"
        case .malformedCommand(let error): "a command cannot be read: \(error.explanation)"
        case .messageBeforePublish(let type): "a message of type \(type) came before publish was granted"
        case .commandBeforeConnect: "a command came before connect"
        }
    }
}

extension AMF0Error {
    fileprivate var explanation: String {
        switch self {
        case .truncated: "its AMF 0 is cut short"
        case .tooDeep: "its AMF 0 is nested more than \(AMF0Decoder.maximumDepth) deep"
        case .tooManyValues: "its AMF 0 has more than \(AMF0Decoder.maximumValueCount) values"
        case .amf3: "AMF 3 is not supported"
        case .unsupportedMarker(let marker): "AMF 0 has no marker \(marker) here"
        }
    }
}
