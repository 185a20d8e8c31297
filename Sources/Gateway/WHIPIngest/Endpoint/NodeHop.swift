import HTTP
import OpenSSL
import Wire

/// What a node says of a request that it passes on, in `Stagedoor-Hop`: when, and for whom. Only a node, which has the platform's
/// key, can say it, so that at the session's owner each encoder has its own share of the request rate.
///
/// `SECONDS;ADDRESS;CODE`, the code being an HMAC-SHA-256 in hexadecimal over these and the request's method and path.
struct NodeHop: Equatable {
    var seconds: Int64
    /// Of the encoder.
    var source: SocketAddress
    private var code: [UInt8]

    init(passing method: HTTPMethod, _ path: String, from source: SocketAddress, key: Secret, now: WallTime) {
        (seconds, self.source) = (now.secondsSince1970, source)
        code = Self.code(seconds, source, method, path, key)
    }

    /// Nil for anything else.
    init?(_ value: String) {
        let parts = value.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count == 3, let seconds = Int64(parts[0]), let source = SocketAddress(String(parts[1])) else { return nil }
        (self.seconds, self.source, code) = (seconds, source, Array(parts[2].utf8))
    }

    var value: String { "\(seconds);\(source);\(String(decoding: code, as: UTF8.self))" }

    /// Whether a node said this of `request`, and lately.
    func isGenuine(_ request: HTTPRequest, key: Secret, now: WallTime) -> Bool {
        let (age, isOutOfRange) = now.secondsSince1970.subtractingReportingOverflow(seconds)
        guard !isOutOfRange, age.magnitude <= Self.maximumAge else { return false }
        return ConstantTime.isEqual(code, Self.code(seconds, source, request.method, request.path, key))
    }

    private static func code(
        _ seconds: Int64, _ source: SocketAddress, _ method: HTTPMethod, _ path: String, _ key: Secret
    ) -> [UInt8] {
        let text = "hop \(seconds) \(source) \(method) \(path)"
        return Array(String(hexadecimal: HMAC.sha256(key: key.reveal(), Array(text.utf8))).utf8)
    }

    /// Seconds by which nodes' clocks may differ, and a request may wait.
    private static let maximumAge = 60
}
