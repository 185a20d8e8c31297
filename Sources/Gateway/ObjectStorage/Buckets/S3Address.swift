import Foundation
import Settings
import Wire

/// Where the objects of one bucket are, in a store that speaks S3.
struct S3Address: Equatable {
    /// `https://host[:port]`, without a port that the scheme has anyway: so the transfer says the host as it is signed.
    let origin: String
    /// As `Host` says it.
    let host: String
    /// What comes before a key: `/`, `/bucket/`, and before that the endpoint's own path.
    private let prefix: String

    /// Nil when the endpoint is no URL.
    init?(_ settings: StorageSettings, bucket: String) {
        let endpoint = settings.endpoint.isEmpty ? "https://s3.\(settings.region).amazonaws.com" : settings.endpoint
        guard let mark = endpoint.range(of: "://") else { return nil }
        let scheme = endpoint[..<mark.lowerBound].lowercased()
        let rest = endpoint[mark.upperBound...]
        let authority = rest.prefix { $0 != "/" }.lowercased()
        var path = rest.dropFirst(authority.count)
        while path.hasSuffix("/") { path.removeLast() }
        guard scheme == "https" || scheme == "http", !authority.isEmpty else { return nil }
        let store = Self.withoutUsualPort(authority, scheme: scheme)
        // A certificate for *.host covers one label, and an address has no names below it.
        let isInPath = settings.pathStyle || bucket.contains(".") && scheme == "https" || Self.isAddress(store)
        host = isInPath ? store : "\(bucket).\(store)"
        origin = "\(scheme)://\(host)"
        prefix = isInPath ? "\(path)/\(bucket)/" : "\(path)/"
    }

    /// The path of an object, percent-encoded: as it goes out and as it is signed.
    func path(ofKey key: String) -> String { PercentEncoding.encode(prefix + key, keepingSlashes: true) }

    private static func withoutUsualPort(_ authority: String, scheme: String) -> String {
        let port = scheme == "https" ? ":443" : ":80"
        return authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
    }

    private static func isAddress(_ authority: String) -> Bool {
        authority.hasPrefix("[") || IPAddress(String(authority.prefix { $0 != ":" })) != nil
    }
}
