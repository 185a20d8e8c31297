/// One response (RFC 9112 §4).
public struct HTTPResponse: Equatable, Sendable {
    public var status: HTTPStatus
    /// The reason phrase (RFC 9112 §4), where it says more than the status's own: some clients show nothing else of an answer.
    public var reason: String?
    public var headers: HTTPHeaders
    public var body: [UInt8]
    /// Whether the connection is closed afterwards, whatever the client wants.
    public var closesConnection = false

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
    enum Framing { case whole, chunked }

    /// The bytes to send: no body for HEAD, neither body nor Content-Length for 1xx, 204 and 304 (RFC 9110 §8.6).
    /// - Parameters:
    ///   - method: of the request that is answered.
    ///   - date: the `Date` field, `CivilTime.httpDate`.
    ///   - isLast: announces `Connection: close`.
    public func serialized(answering method: HTTPMethod, date: String?, isLast: Bool) -> [UInt8] {
        var bytes = head(framing: .whole, date: date, isLast: isLast)
        if method != .head, !status.forbidsBody { bytes += body }
        return bytes
    }

    /// The head of a response whose body follows in chunks (`ChunkedBody`).
    public func serializedChunkedHead(date: String?, isLast: Bool) -> [UInt8] {
        head(framing: .chunked, date: date, isLast: isLast)
    }

    /// The interim response that lets a client send its body (RFC 9110 §15.2.1).
    public static let continueBytes = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private func head(framing: Framing, date: String?, isLast: Bool) -> [UInt8] {
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
        }
        if isLast { Self.write("Connection", "close", into: &bytes) }
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
    public static let end = Array("0\r\n\r\n".utf8)

    /// `bytes` as one chunk; nothing for no bytes, since an empty chunk would end the body.
    public static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        bytes.isEmpty ? [] : Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [0x0D, 0x0A]
    }
}
