/// One response (RFC 9112 §4).
///
///     let response = HTTPResponse(.created, contentType: "application/sdp", answer.text, headers: ["Location": url])
///     send(response.serialized(answering: request.method, date: date, isLast: false))
public struct HTTPResponse: Equatable, Sendable {
    /// Its code is sent with `reason` or the code's own phrase.
    public var status: HTTPStatus
    /// The reason phrase (RFC 9112 §4), where it says more than the status's own: some clients show nothing else of an answer.
    public var reason: String?
    /// Without Content-Length, Transfer-Encoding and Connection, which the serialiser writes.
    public var headers: HTTPHeaders
    /// Sent unless method or status forbid it.
    public var body: [UInt8]
    /// Whether the connection is closed afterwards, whatever the client wants.
    public var closesConnection = false

    /// A response with these bytes as its body.
    public init(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// A response with a text body of the given media type.
    public init(_ status: HTTPStatus, contentType: String, _ text: String, headers: HTTPHeaders = [:]) {
        self.init(status, headers: headers, body: Array(text.utf8))
        self.headers["Content-Type"] = contentType
    }
}

extension HTTPResponse {
    /// How the bytes after the head are delimited.
    enum Framing { case whole, chunked, untilClose }

    /// The bytes to send: no body for HEAD, neither body nor Content-Length for 1xx, 204 and 304 (RFC 9110 §8.6).
    /// - Parameters:
    ///   - method: of the request that is answered.
    ///   - version: of that request. A client of HTTP/1.0 takes a connection for kept only where it is told so (RFC 9112 §C.2.2).
    ///   - date: the `Date` field, `CivilTime.httpDate`.
    ///   - isLast: announces `Connection: close`.
    public func serialized(
        answering method: HTTPMethod, to version: HTTPVersion = .http11, date: String?, isLast: Bool
    ) -> [UInt8] {
        let connection: String? = isLast ? "close" : version == .http10 ? "keep-alive" : nil
        var bytes = head(framing: .whole, date: date, connection: connection)
        if method != .head, !status.forbidsBody { bytes += body }
        return bytes
    }

    /// The head of a response whose body follows as it comes: in chunks (`ChunkedBody`), or as it is up to the end of the
    /// connection to clients of HTTP/1.0, which has no chunks (RFC 9112 §6.1).
    public func serializedStreamHead(to version: HTTPVersion, date: String?) -> [UInt8] {
        head(framing: version == .http10 ? .untilClose : .chunked, date: date, connection: "close")
    }

    /// The interim response that lets a client send its body (RFC 9110 §15.2.1).
    public static let continueBytes = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private func head(framing: Framing, date: String?, connection: String?) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256 + body.count)
        bytes += Array("HTTP/1.1 \(status.code) ".utf8)
        bytes += (reason ?? status.phrase).utf8.map { $0.isFieldValueCharacter ? $0 : 0x20 }
        bytes += [0x0D, 0x0A]
        if let date { Self.write("Date", date, into: &bytes) }
        for field in headers.fields where !Self.isFraming(field.name) { Self.write(field.name, field.value, into: &bytes) }
        switch framing {
        case .chunked: Self.write("Transfer-Encoding", "chunked", into: &bytes)
        case .whole: if !status.forbidsBody { Self.write("Content-Length", String(body.count), into: &bytes) }
        case .untilClose: break
        }
        if let connection { Self.write("Connection", connection, into: &bytes) }
        bytes += [0x0D, 0x0A]
        return bytes
    }

    /// Fields that only the serialiser writes.
    private static func isFraming(_ name: String) -> Bool {
        ["Content-Length", "Transfer-Encoding", "Connection"].contains { HTTPHeaders.areEqual($0, name) }
    }

    /// A control character in a value would let its author write fields of his own: it becomes a space.
    private static func write(_ name: String, _ value: String, into bytes: inout [UInt8]) {
        bytes += name.utf8
        bytes += [UInt8(ascii: ":"), 0x20]
        bytes += value.utf8.map { $0.isFieldValueCharacter ? $0 : 0x20 }
        bytes += [0x0D, 0x0A]
    }
}

/// The chunked transfer coding (RFC 9112 §7.1), for bodies whose end is not known when they begin.
public enum ChunkedBody {
    /// The last chunk: no bytes, no trailers.
    public static let end = Array("0\r\n\r\n".utf8)

    /// `bytes` as one chunk; nothing for no bytes, since an empty chunk would end the body.
    public static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        bytes.isEmpty ? [] : Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [0x0D, 0x0A]
    }
}

/// A status code with its phrase (RFC 9110 §15).
public struct HTTPStatus: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Three digits.
    public var code: Int

    /// - Parameter code: 100 to 599.
    public init(_ code: Int) { self.code = code }
    public init(integerLiteral value: Int) { code = value }

    public var description: String { "\(code) \(phrase)" }
    /// The reason phrase; `Status` for a code that is not in use.
    public var phrase: String { Self.phrases[code] ?? "Status" }

    /// Answers with these never carry a body (RFC 9110 §6.4.1).
    public var forbidsBody: Bool { (100...199).contains(code) || code == 204 || code == 304 }

    /// 200 OK.
    public static let ok: HTTPStatus = 200
    /// 201 Created; `Location` says where.
    public static let created: HTTPStatus = 201
    /// 204 No Content.
    public static let noContent: HTTPStatus = 204
    /// 400 Bad Request.
    public static let badRequest: HTTPStatus = 400
    /// 401 Unauthorized: credentials are missing or wrong.
    public static let unauthorized: HTTPStatus = 401
    /// 403 Forbidden: not with these credentials.
    public static let forbidden: HTTPStatus = 403
    /// 404 Not Found.
    public static let notFound: HTTPStatus = 404
    /// 405 Method Not Allowed; `Allow` says which are.
    public static let methodNotAllowed: HTTPStatus = 405
    /// 408 Request Timeout.
    public static let requestTimeout: HTTPStatus = 408
    /// 409 Conflict.
    public static let conflict: HTTPStatus = 409
    /// 412 Precondition Failed: another entity tag.
    public static let preconditionFailed: HTTPStatus = 412
    /// 429 Too Many Requests; `Retry-After` says when (RFC 6585 §4).
    public static let tooManyRequests: HTTPStatus = 429
    /// 500 Internal Server Error: our fault.
    public static let internalServerError: HTTPStatus = 500
    /// 503 Service Unavailable; `Retry-After` says when.
    public static let serviceUnavailable: HTTPStatus = 503

    private static let phrases: [Int: String] = [
        100: "Continue", 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden",
        404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
        411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content",
        425: "Too Early", 428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
