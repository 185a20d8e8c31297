import HTTP
import Wire

/// What AWS Signature Version 4 signs of a request: method, path, query, some headers, and the body's hash, in one spelling.
struct CanonicalRequest {
    let bytes: [UInt8]

    /// - Throws: `.unsigned` when a named header is missing.
    init(_ request: HTTPRequest, signedHeaders: [String], payloadHash: String) throws(SignatureV4Error) {
        var lines = [request.method.rawValue, Self.path(request.path), Self.query(request.query)]
        for name in signedHeaders {
            let values = request.headers.values(of: name)
            guard !values.isEmpty else { throw .unsigned(name) }
            lines.append("\(name):\(values.map(Self.folded).joined(separator: ","))")
        }
        lines += ["", signedHeaders.joined(separator: ";"), payloadHash]
        bytes = Array(lines.joined(separator: "\n").utf8)
    }

    /// The path as sent, encoded once more: every service but S3 does so.
    private static func path(_ path: String) -> String { path.isEmpty ? "/" : PercentEncoding.encode(path, keepingSlashes: true) }

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
