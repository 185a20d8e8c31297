import AMF0

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
