import Wire

/// The flap guard of DESIGN 7: after 3 takeovers between different addresses in 60 s the incumbent stays.
struct TakeoverGuard: Sendable {
    private struct Takeover {
        var time: MonotonicTime
        var address: IPAddress
    }

    private var takeovers: [String: [Takeover]] = [:]

    /// Whether a session from `address` may still take over `participant`.
    mutating func allows(_ participant: String, from address: IPAddress, now: MonotonicTime) -> Bool {
        guard var recent = takeovers[participant] else { return true }
        recent.removeAll { now - $0.time > Self.window }
        takeovers[participant] = recent.isEmpty ? nil : recent
        return recent.count < Self.maximumTakeovers || recent.last?.address == address
    }

    /// A takeover from one address by another happened; one between equal addresses is an encoder that restarted.
    mutating func record(_ participant: String, from old: IPAddress, by new: IPAddress, now: MonotonicTime) {
        guard old != new else { return }
        if takeovers.count >= Self.maximumParticipants {
            takeovers = takeovers.filter { now - ($0.value.last?.time ?? .zero) <= Self.window }
        }
        takeovers[participant, default: []].append(Takeover(time: now, address: new))
        if let count = takeovers[participant]?.count, count > 8 { takeovers[participant]?.removeFirst(count - 8) }
    }

    static let window: Duration = .seconds(60)
    static let maximumTakeovers = 3
    private static let maximumParticipants = 4_096
}
