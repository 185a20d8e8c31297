/// Why a request is refused before anybody looks at its meaning. The connection is closed after the answer.
public enum HTTPError: Error, Equatable, Sendable {
    /// A line ends in LF without CR, or holds a CR or another control character.
    case malformedLine
    /// Not `method SP target SP version`.
    case malformedRequestLine
    /// Neither HTTP/1.1 nor HTTP/1.0.
    case unsupportedVersion
    /// See `HTTPRequestTarget`.
    case malformedTarget
    /// A field without a colon, whose name is no token, or whose value is longer than 1,024 bytes and not ASCII.
    case malformedField
    /// A line beginning with white space (RFC 9112 §5.2).
    case foldedField
    /// A field that may stand once stands twice.
    case repeatedField(String)
    /// HTTP/1.1 demands the Host field (RFC 9112 §3.2).
    case missingHost
    /// A Host field that is no host with an optional port.
    case malformedHost
    /// Content-Length is no plain number, or stands beside Transfer-Encoding (RFC 9112 §6.1).
    case malformedFraming
    /// A chunk without size or end, or more of chunk lines than `HTTPLimits` allow.
    case malformedChunk
    /// An `Expect` other than `100-continue` (RFC 9110 §10.1.1).
    case unsupportedExpectation
    /// The request line is longer than `HTTPLimits.maximumRequestLineLength`.
    case targetTooLong
    /// More fields, or more bytes of them, than `HTTPLimits` allow.
    case headTooLarge
    /// More than the caller of the parser takes for this request.
    case bodyTooLarge

    /// What the peer is answered.
    public var status: HTTPStatus {
        switch self {
        case .bodyTooLarge: 413
        case .targetTooLong: 414
        case .unsupportedExpectation: 417
        case .headTooLarge: 431
        case .unsupportedVersion: 505
        default: 400
        }
    }

    /// What the peer is told.
    public var sentence: String {
        switch self {
        case .malformedLine: "A line of the request is not ended by CR LF, or holds control characters."
        case .malformedRequestLine: "The request line is malformed."
        case .unsupportedVersion: "Only HTTP/1.1 and HTTP/1.0 are spoken here."
        case .malformedTarget: "The request target is malformed."
        case .malformedField: "A header field is malformed."
        case .foldedField: "A header field is folded over two lines."
        case .repeatedField(let name): "The header field \(name) stands more than once."
        case .missingHost: "The Host header field is missing."
        case .malformedHost: "The Host header field is malformed."
        case .malformedFraming: "Content-Length or Transfer-Encoding is malformed."
        case .malformedChunk: "The chunked body is malformed."
        case .unsupportedExpectation: "The expectation is not supported."
        case .targetTooLong: "The request target is too long."
        case .headTooLarge: "The header section is too large."
        case .bodyTooLarge: "The body is too large."
        }
    }
}
