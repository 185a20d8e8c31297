/// A strict incremental parser of HTTP/1.1 and HTTP/1.0 requests (RFC 9112).
///
/// Bytes go in as they come; out come whole requests, and the moments at which a client waits for `100 Continue`. What two parsers
/// could read differently is refused, since that is how requests are smuggled: repeated or conflicting lengths, bare LF, folded
/// fields, white space before colons, unknown codings. Memory is bounded by the limits and, for bodies, by the closure that is asked
/// once the head is known. After an error the connection must be closed.
public struct HTTPRequestParser {
    public enum Event: Equatable, Sendable {
        /// The client sends the body only after a `100 Continue` (RFC 9110 §10.1.1).
        case continueExpected
        case request(HTTPRequest)
    }

    enum State: Equatable {
        case requestLine
        case fields
        case body(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailers
    }

    let limits: HTTPLimits
    let maximumBodyLength: (HTTPRequest) -> Int
    var state = State.requestLine
    /// The line that has begun, without its CR LF.
    var line: [UInt8] = []
    /// Bytes of the lines that count against the present limit.
    var lineBytes = 0
    var head = HTTPRequestHead()
    /// The request whose body is being read.
    var request: HTTPRequest?
    var bodyLimit = 0

    /// - Parameter maximumBodyLength: the greatest body, in bytes, for a request of which all but the body is known.
    public init(limits: HTTPLimits = .standard, maximumBodyLength: @escaping (HTTPRequest) -> Int) {
        (self.limits, self.maximumBodyLength) = (limits, maximumBodyLength)
    }

    /// Whether no request has begun: a connection may be closed here without loss.
    public var isIdle: Bool { state == .requestLine && line.isEmpty }

    /// Takes bytes up to the next event.
    /// - Returns: how many bytes were taken (all of them unless an event came), and the event.
    public mutating func receive(_ bytes: RawSpan) throws(HTTPError) -> (byteCount: Int, event: Event?) {
        var offset = 0
        while offset < bytes.byteCount {
            if let event = try step(bytes, &offset) { return (offset, event) }
        }
        return (offset, nil)
    }

    private mutating func step(_ bytes: RawSpan, _ offset: inout Int) throws(HTTPError) -> Event? {
        switch state {
        case .body(let remaining):
            let left = remaining - copyBody(bytes, &offset, upTo: remaining)
            state = .body(remaining: left)
            return left == 0 ? finish() : nil
        case .chunk(let remaining):
            let left = remaining - copyBody(bytes, &offset, upTo: remaining)
            state = left == 0 ? .chunkEnd : .chunk(remaining: left)
            return nil
        case .requestLine, .fields, .chunkSize, .chunkEnd, .trailers:
            guard try takeLine(bytes, &offset) else { return nil }
            defer { line.removeAll(keepingCapacity: true) }
            return try takeCompleteLine()
        }
    }

    private mutating func takeCompleteLine() throws(HTTPError) -> Event? {
        switch state {
        case .requestLine:
            if line.isEmpty {  // one empty line before a request is passed over (RFC 9112 §2.2)
                guard lineBytes == 2 else { throw .malformedRequestLine }
                return nil
            }
            try head.parseRequestLine(line)
            (state, lineBytes) = (.fields, 0)
        case .fields:
            if line.isEmpty { return try finishHead() }
            guard head.headers.count < limits.maximumHeaderCount else { throw .headTooLarge }
            try head.parseField(line)
        case .chunkSize: try startChunk()
        case .chunkEnd:
            guard line.isEmpty else { throw .malformedChunk }
            state = .chunkSize
        case .trailers:
            if line.isEmpty { return finish() }
            var ignored = HTTPRequestHead()  // checked, then dropped: nothing here trusts a trailer (RFC 9110 §6.5.1)
            try ignored.parseField(line)
        case .body, .chunk: break  // not made of lines
        }
        return nil
    }

    private mutating func finishHead() throws(HTTPError) -> Event? {
        let request = try head.makeRequest()
        bodyLimit = maximumBodyLength(request)
        let framing = try head.framing()
        let expectsContinue = try head.expectsContinue()
        (self.request, head, lineBytes) = (request, HTTPRequestHead(), 0)
        switch framing {
        case .none: return finish()
        case .length(let length):
            guard length <= bodyLimit else { throw .bodyTooLarge }
            if length == 0 { return finish() }
            state = .body(remaining: length)
        case .chunked: state = .chunkSize
        }
        return expectsContinue ? .continueExpected : nil
    }

    /// Hands out the request and stands ready for the next one.
    private mutating func finish() -> Event? {
        (state, lineBytes) = (.requestLine, 0)
        defer { request = nil }
        return request.map(Event.request)
    }
}
