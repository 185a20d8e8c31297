import Wire

/// A strict incremental parser of HTTP/1.1 and HTTP/1.0 requests (RFC 9112).
///
/// Bytes go in as they come; out come whole requests, and the moments at which a client waits for `100 Continue`. What two
/// parsers could read differently is refused, since that is how requests are smuggled: repeated or conflicting lengths, bare LF,
/// folded fields, white space before colons, unknown codings. Memory is bounded by `HTTPLimits` and, for bodies, by the caller.
/// After an error the connection must be closed.
///
///     var parser = HTTPRequestParser(maximumBodyLength: 65_536)
///     let (count, event) = try parser.receive(bytes)  // bytes behind `count` are given again
///     if case .request(let request)? = event { answer(request) }
public struct HTTPRequestParser {
    /// What the bytes have led to.
    public enum Event: Equatable, Sendable {
        /// The client sends the body only after a `100 Continue` (RFC 9110 §10.1.1).
        case continueExpected
        /// A request with its body.
        case request(HTTPRequest)
    }

    private enum State: Equatable {
        case requestLine
        case fields
        case body(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailers
    }

    private let maximumBodyLength: Int
    private var state = State.requestLine
    /// The line that has begun, without its CR LF.
    private var line: [UInt8] = []
    /// Bytes of the lines that count against the present limit.
    private var lineBytes = 0
    private var head = HTTPRequestHead()
    /// The request whose body is being read.
    private var request: HTTPRequest?

    /// - Parameter maximumBodyLength: the greatest body, in bytes.
    public init(maximumBodyLength: Int) { self.maximumBodyLength = maximumBodyLength }

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
            guard head.headers.count < HTTPLimits.maximumHeaderCount else { throw .headTooLarge }
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
        let framing = try head.framing()
        let expectsContinue = try head.expectsContinue()
        (self.request, head, lineBytes) = (request, HTTPRequestHead(), 0)
        switch framing {
        case .none: return finish()
        case .length(let length):
            guard length <= maximumBodyLength else { throw .bodyTooLarge }
            if length == 0 { return finish() }
            state = .body(remaining: length)
        case .chunked: state = .chunkSize
        }
        return expectsContinue ? .continueExpected : nil
    }

    /// Hands out the request and stands ready for the next one. A connection at rest keeps no room
    /// for lines: a token is a long one.
    private mutating func finish() -> Event? {
        (state, lineBytes, line) = (.requestLine, 0, [])
        defer { request = nil }
        return request.map(Event.request)
    }
}

extension HTTPRequestParser {
    /// Adds bytes to the line that has begun; true once its CR LF has come (and gone).
    private mutating func takeLine(_ bytes: RawSpan, _ offset: inout Int) throws(HTTPError) -> Bool {
        while offset < bytes.byteCount {
            let byte = bytes.byte(at: offset)
            offset += 1
            lineBytes += 1
            if byte == 0x0A {
                guard line.last == 0x0D else { throw .malformedLine }
                line.removeLast()
                try checkLength()
                return true
            }
            guard line.last != 0x0D, byte.isFieldValueCharacter || byte == 0x0D else { throw .malformedLine }
            if line.isEmpty, state == .requestLine, !byte.isTokenCharacter, byte != 0x0D { throw .malformedRequestLine }
            line.append(byte)
            try checkLength()
        }
        return false
    }

    private func checkLength() throws(HTTPError) {
        switch state {
        case .requestLine: if lineBytes > HTTPLimits.maximumRequestLineLength { throw .targetTooLong }
        case .fields: if lineBytes > HTTPLimits.maximumHeaderLength { throw .headTooLarge }
        default:
            guard line.count <= HTTPLimits.maximumChunkLineLength, lineBytes <= HTTPLimits.maximumChunkOverhead else {
                throw .malformedChunk
            }
        }
    }

    /// Appends at most `count` bytes to the body and tells how many.
    private mutating func copyBody(_ bytes: RawSpan, _ offset: inout Int, upTo count: Int) -> Int {
        let count = min(count, bytes.byteCount - offset)
        let part = bytes.extracting(offset..<(offset + count))
        unsafe part.withUnsafeBytes { unsafe request?.body.append(contentsOf: $0) }
        offset += count
        return count
    }

    /// Reads `chunk-size [ chunk-ext ]` (RFC 9112 §7.1); extensions are passed over, size 0 begins the trailers.
    private mutating func startChunk() throws(HTTPError) {
        let digits = line.prefix { $0.hexadecimalValue != nil }
        let rest = line[digits.endIndex...]
        guard (1...8).contains(digits.count), rest.isEmpty || rest.first == UInt8(ascii: ";") else { throw .malformedChunk }
        let size = digits.reduce(0) { $0 << 4 | Int($1.hexadecimalValue ?? 0) }
        guard size <= maximumBodyLength - (request?.body.count ?? 0) else { throw .bodyTooLarge }
        state = size == 0 ? .trailers : .chunk(remaining: size)
    }
}

extension RawSpan {
    /// - Precondition: `offset` is in bounds: the caller looked.
    func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

/// What one request may cost before anybody knows who sends it.
public enum HTTPLimits {
    /// Bytes of the request line; a signed URL or a token in a query needs some 4 KiB.
    public static let maximumRequestLineLength = 8 * 1024
    /// Bytes of all header fields together, line ends included.
    public static let maximumHeaderLength = 16 * 1024
    /// Field lines; browsers send some 20.
    public static let maximumHeaderCount = 100
    /// Bytes of one chunk-size line; extensions are read over.
    public static let maximumChunkLineLength = 256
    /// Bytes of all chunk-size lines and trailers of one request: more is a way to send much and say nothing.
    public static let maximumChunkOverhead = 16 * 1024
}
