public import Wire

/// The endpoints that tokens may name: today's, and those handed out in the last 14 days, which clients may have kept.
public struct EndpointHistory: Equatable, Sendable {
    /// How long an endpoint stays good after it was noted last, in seconds: tokens are good for 14
    /// days, and it is noted once a day.
    public static let lifetime: Int64 = 15 * 86_400
    private static let setting = "endpoints"

    public let current: StageEndpoints

    /// Notes in the transaction's settings that these endpoints are today's. To be repeated while they are handed out.
    public init(_ current: StageEndpoints, in transaction: inout StateTransaction, now: WallTime) {
        self.current = current
        let seconds = now.secondsSince1970
        var lastSeen = Self.kept(in: transaction.state).filter { $0.value + Self.lifetime > seconds }
        for url in [current.events, current.whip] { lastSeen[Self.trimmed(url)] = seconds }
        let lines = lastSeen.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        transaction.setSetting(Self.setting, to: Secret(lines.joined(separator: "\n")))
    }

    /// Whether a token may name this URL now.
    /// - Parameter state: has what was noted, by this process, those before it, and other nodes of the cluster.
    public func accepts(_ url: String, at seconds: Int64, in state: StoreState) -> Bool {
        let url = Self.trimmed(url)
        if url == Self.trimmed(current.events) || url == Self.trimmed(current.whip) { return true }
        guard let time = Self.kept(in: state)[url] else { return false }
        return seconds < time + Self.lifetime
    }

    /// URL → the last second in which it was handed out.
    private static func kept(in state: StoreState) -> [String: Int64] {
        let lines = (state.setting(setting)?.revealText() ?? "").split(separator: "\n")
        return lines.reduce(into: [:]) { kept, line in
            let words = line.split(separator: " ", maxSplits: 1)
            if words.count == 2, let time = Int64(words[0]) { kept[String(words[1])] = time }
        }
    }

    /// A trailing slash makes no difference.
    private static func trimmed(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }
}

/// The four URLs of a stage (`StageEndpoints` of the API model), from configuration: all stages of a gateway share them.
public struct StageEndpoints: Equatable, Sendable {
    public var events: String
    public var whip: String
    public var rtmp: String
    public var rtmps: String

    public init(events: String, whip: String, rtmp: String, rtmps: String) {
        (self.events, self.whip, self.rtmp, self.rtmps) = (events, whip, rtmp, rtmps)
    }
}
