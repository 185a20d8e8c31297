import HTTP
import Wire

/// The `Authorization` header of AWS Signature Version 4:
/// `AWS4-HMAC-SHA256 Credential=ID/date/region/service/aws4_request, SignedHeaders=a;b, Signature=hex`.
struct SignatureV4Authorization: Equatable {
    static let scheme = "AWS4-HMAC-SHA256"
    static let maximumSignedHeaders = 64

    var accessKeyID: String
    var date: String
    var region: String
    var service: String
    /// Lower-case, in the order given.
    var signedHeaders: [String]
    /// 32 bytes.
    var signature: [UInt8]

    init(parsing header: String) throws(SignatureV4Error) {
        guard header.hasPrefix(Self.scheme + " ") else { throw .missing }
        let fields = Self.fields(header.dropFirst(Self.scheme.count + 1))
        guard let credential = fields["Credential"], let names = fields["SignedHeaders"], let hex = fields["Signature"],
            let signature = [UInt8](hexadecimal: hex), signature.count == 32
        else { throw .malformed }
        let parts = credential.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[4] == "aws4_request", (1...128).contains(parts[0].utf8.count), parts[1].utf8.count == 8
        else { throw .malformed }
        signedHeaders = names.split(separator: ";").map { $0.lowercased() }
        guard (1...Self.maximumSignedHeaders).contains(signedHeaders.count), signedHeaders == signedHeaders.sorted() else {
            throw .malformed
        }
        (accessKeyID, date, region, service) = (String(parts[0]), String(parts[1]), String(parts[2]), String(parts[3]))
        self.signature = signature
    }

    private static func fields(_ text: Substring) -> [String: Substring] {
        var fields: [String: Substring] = [:]
        for part in text.split(separator: ",") {
            let part = part.drop { $0 == " " }
            guard let equals = part.firstIndex(of: "=") else { continue }
            fields[String(part[..<equals])] = part[part.index(after: equals)...]
        }
        return fields
    }
}

/// What AWS Signature Version 4 signs of a request: method, path, query, some headers, and the body's hash, in one spelling.
struct CanonicalRequest {
    let bytes: [UInt8]

    /// - Parameter path: one of `spellings(ofPath:)`.
    /// - Throws: `.unsigned` when a named header is missing.
    init(_ request: HTTPRequest, path: String, signedHeaders: [String], payloadHash: String) throws(SignatureV4Error) {
        var fields: [(String, String)] = []
        for name in signedHeaders {
            let values = request.headers.values(of: name)
            guard !values.isEmpty else { throw .unsigned(name) }
            fields.append((name, values.map(Self.folded).joined(separator: ",")))
        }
        self.init(
            method: request.method.rawValue, path: path, query: Self.query(request.query), fields: fields,
            payloadHash: payloadHash)
    }

    /// - Parameters:
    ///   - path: in its canonical spelling, as is the query.
    ///   - fields: in the order of their names, which are in lower case.
    init(method: String, path: String, query: String, fields: [(String, String)], payloadHash: String) {
        let lines =
            [method, path, query] + fields.map { "\($0.0):\($0.1)" } + ["", fields.map(\.0).joined(separator: ";"), payloadHash]
        bytes = Array(lines.joined(separator: "\n").utf8)
    }

    /// How clients sign the path: as sent, encoded once more (every service but S3 does so). And, where that is not the same, as
    /// AWS reads it: escaped wherever it can be before it is encoded once more. The SDK for C++ signed so the bare colons of ARNs
    /// that it sent until 2023.
    static func spellings(ofPath path: String) -> [String] {
        guard !path.isEmpty else { return ["/"] }
        let asSent = PercentEncoding.encode(path, keepingSlashes: true)
        var segments: [String] = []
        for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
            guard let text = PercentEncoding.decode(segment) else { return [asSent] }
            segments.append(PercentEncoding.encode(text))
        }
        let escaped = PercentEncoding.encode(segments.joined(separator: "/"), keepingSlashes: true)
        return escaped == asSent ? [asSent] : [asSent, escaped]
    }

    /// The pairs as sent, in the order of their bytes; a name alone gets an equals sign.
    private static func query(_ query: String?) -> String {
        guard let query, !query.isEmpty else { return "" }
        let pairs = query.split(separator: "&").map { pair -> [Substring] in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return [parts[0], parts.count > 1 ? parts[1] : ""]
        }
        return pairs.sorted { ($0[0], $0[1]) < ($1[0], $1[1]) }.map { "\($0[0])=\($0[1])" }.joined(separator: "&")
    }

    /// Without white space around, and runs of blanks inside as one.
    private static func folded(_ value: String) -> String {
        value.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
    }
}
