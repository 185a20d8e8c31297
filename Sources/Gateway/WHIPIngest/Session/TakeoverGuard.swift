import Admission
import Wire

/// The flap guard (docs/design.md 7.3): after 3 takeovers between different addresses in 60 s the incumbent stays. IPv6 counts by
/// /64, in which a machine takes another address whenever it comes into its network anew.
struct TakeoverGuard: Sendable {
    private struct Takeover {
        var time: MonotonicTime
        var network: IPAddress
    }

    private var takeovers = FadingTable<ParticipantKey, [Takeover]>(maximumCount: maximumParticipants, lifetime: window)

    /// Whether a session from `address` may still take over `participant`.
    func allows(_ participant: ParticipantKey, from address: IPAddress, now: MonotonicTime) -> Bool {
        guard var recent = takeovers.glimpse(of: participant) else { return true }
        recent.removeAll { now - $0.time > Self.window }
        return recent.count < Self.maximumTakeovers || recent.last?.network == address.network
    }

    /// A takeover from one address by another happened; one between equal addresses is an encoder that restarted.
    mutating func record(_ participant: ParticipantKey, from old: IPAddress, by new: IPAddress, now: MonotonicTime) {
        guard old.network != new.network else { return }
        let recent = (takeovers.value(of: participant, at: now) ?? []) + [Takeover(time: now, network: new.network)]
        takeovers.set(recent.suffix(Self.maximumRemembered), for: participant, at: now)
    }

    /// Participants remembered now.
    mutating func participantCount(at now: MonotonicTime) -> Int { takeovers.count(at: now) }

    static let window: Duration = .seconds(60)
    static let maximumTakeovers = 3
    /// Of one participant; more than forbid the next.
    private static let maximumRemembered = 8
    static let maximumParticipants = 4_096
}
