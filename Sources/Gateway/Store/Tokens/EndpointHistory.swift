public import Wire

/// The endpoints that tokens may name: today's, and those handed out in the last 14 days, which clients may have kept.
public struct EndpointHistory: Equatable, Sendable {
    /// How long an endpoint stays good after it was last in the configuration, in seconds.
    public static let lifetime: Int64 = 14 * 86_400
    private static let setting = "endpoints"

    public private(set) var current: StageEndpoints
    /// URL → the last second in which it was handed out.
    private var lastSeen: [String: Int64] = [:]

    /// Reads the history, adds today's endpoints to it, and keeps it in the transaction's settings.
    public init(_ current: StageEndpoints, in transaction: inout StateTransaction, now: WallTime) {
        self.current = current
        let seconds = now.secondsSince1970
        let kept = transaction.state.setting(Self.setting)?.revealText() ?? ""
        for line in kept.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let time = Int64(words[0]), time + Self.lifetime > seconds else { continue }
            lastSeen[String(words[1])] = time
        }
        for url in [current.events, current.whip] { lastSeen[Self.trimmed(url)] = seconds }
        let lines = lastSeen.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        transaction.setSetting(Self.setting, to: Secret(lines.joined(separator: "\n")))
    }

    /// Whether a token may name this URL now.
    public func accepts(_ url: String, at seconds: Int64) -> Bool {
        let url = Self.trimmed(url)
        if url == Self.trimmed(current.events) || url == Self.trimmed(current.whip) { return true }
        guard let time = lastSeen[url] else { return false }
        return seconds < time + Self.lifetime
    }

    /// A trailing slash makes no difference.
    private static func trimmed(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }
}
