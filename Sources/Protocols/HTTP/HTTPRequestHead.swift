/// Request line and header fields while they are being read, and the rules that hold among them.
struct HTTPRequestHead {
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    private var method: HTTPMethod = .get
    private var rawTarget = ""
    private var target = HTTPRequestTarget("/")
    private var version = HTTPVersion.http11
    private(set) var headers = HTTPHeaders()

    /// Fields of which two would let two readers disagree.
    static let singleFields = ["Host", "Content-Length", "Transfer-Encoding", "Authorization", "Content-Type", "Expect"]

    /// Bytes of a value that is not ASCII: whoever compares it does so by characters, which takes the square of their length.
    static let maximumUnicodeValueLength = 1_024

    /// `method SP request-target SP HTTP-version` with single spaces (RFC 9112 §3).
    mutating func parseRequestLine(_ line: [UInt8]) throws(HTTPError) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 3, parts[0].isToken else { throw .malformedRequestLine }
        version = try Self.version(parts[2])
        method = HTTPMethod(rawValue: parts[0])
        rawTarget = parts[1]
        target = HTTPRequestTarget(parts[1])
        guard let target, target.path != "*" || method == .options else { throw .malformedTarget }
    }

    private static func version(_ text: String) throws(HTTPError) -> HTTPVersion {
        let bytes = Array(text.utf8)
        guard bytes.count == 8, text.hasPrefix("HTTP/"), bytes[5].isDigit, bytes[6] == UInt8(ascii: "."), bytes[7].isDigit
        else { throw .malformedRequestLine }
        guard bytes[5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
        return bytes[7] == UInt8(ascii: "0") ? .http10 : .http11
    }

    /// `field-name ":" OWS field-value OWS` (RFC 9112 §5); bytes that are not UTF-8 are read as Latin-1.
    mutating func parseField(_ line: [UInt8]) throws(HTTPError) {
        guard line[0] != 0x20, line[0] != 0x09 else { throw .foldedField }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .malformedField }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        guard name.isToken else { throw .malformedField }
        let value = line[(colon + 1)...]
        guard value.count <= Self.maximumUnicodeValueLength || value.allSatisfy({ $0 < 0x80 }) else { throw .malformedField }
        let text = String(validating: value, as: UTF8.self) ?? String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
        headers.add(name, String(text.trimmingWhiteSpace()))
    }

    func makeRequest() throws(HTTPError) -> HTTPRequest {
        for name in Self.singleFields where headers.values(of: name).count > 1 { throw .repeatedField(name) }
        guard let target else { throw .malformedTarget }
        if let host = headers["Host"] {
            guard host.isEmpty || HTTPRequestTarget.isHost(host[...]) else { throw .malformedHost }
        } else if version == .http11 {
            throw .missingHost
        }
        return HTTPRequest(method: method, target: target, rawTarget: rawTarget, version: version, headers: headers)
    }

    /// How the body is delimited (RFC 9112 §6.3). Only `chunked` alone is known, and never in HTTP/1.0.
    func framing() throws(HTTPError) -> Framing {
        if let coding = headers["Transfer-Encoding"] {
            guard !headers.contains("Content-Length"), version == .http11, HTTPHeaders.areEqual(coding, "chunked")
            else { throw .malformedFraming }
            return .chunked
        }
        guard let length = headers["Content-Length"] else { return .none }
        guard (1...18).contains(length.utf8.count), length.utf8.allSatisfy(\.isDigit), let length = Int(length)
        else { throw .malformedFraming }
        return .length(length)
    }

    func expectsContinue() throws(HTTPError) -> Bool {
        guard let expectation = headers["Expect"], version == .http11 else { return false }
        guard HTTPHeaders.areEqual(expectation, "100-continue") else { throw .unsupportedExpectation }
        return true
    }
}
