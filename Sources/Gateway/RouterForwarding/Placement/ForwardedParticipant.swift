import Admission
import EventLoop
import Wire

/// What the control loop knows of one participant: what is announced of it, where, and as which generation.
final class ForwardedParticipant {
    struct Replica {
        /// Where it is announced or about to be.
        var router: String?
        /// The last one announced; 0 before the first.
        var generation: UInt64 = 0
        /// The router has answered.
        var isLive = false
        var failures = 0
        var retry: TimerWatch?
    }

    let id: ForwardingID
    let worker: MailboxSender<LegCommand>
    /// As the worker tells it; the lease's generation in it.
    var announcement: Announcement
    var replicas: [Replica]

    init(_ id: ForwardingID, _ announcement: Announcement, worker: MailboxSender<LegCommand>, replicas count: Int) {
        (self.id, self.announcement, self.worker) = (id, announcement, worker)
        replicas = Array(repeating: Replica(), count: count)
    }

    var stageID: String { announcement.grant.stageID }

    /// Takes over from an earlier publish of the participant: generations go on rising.
    func continues(_ former: ForwardedParticipant) {
        former.cancel()
        for index in replicas.indices { replicas[index].generation = former.replicas[index].generation }
    }

    func cancel() {
        for index in replicas.indices { replicas[index].retry = nil }
    }

    /// Chooses the generation of the next announce: above the placement's, the lease's, and the last one.
    func begin(_ replica: Int, at placement: Placement) -> UInt64 {
        let last = replicas[replica].generation
        let generation = min(
            Generation.maximum, max(placement.generation, announcement.generation, last == 0 ? 0 : last + 1))
        (replicas[replica].router, replicas[replica].generation) = (placement.router, generation)
        (replicas[replica].isLive, replicas[replica].retry) = (false, nil)
        return generation
    }

    func succeeded(_ replica: Int) { (replicas[replica].isLive, replicas[replica].failures) = (true, 0) }

    /// - Returns: how long to wait before the next attempt.
    func failed(_ replica: Int, staleAt wall: WallTime, failure: AnnounceFailure) -> Duration {
        if failure == .staleGeneration {
            // Somebody's clock ran ahead of ours once: go on above it.
            let clock = UInt64(max(0, wall.millisecondsSince1970))
            replicas[replica].generation = min(Generation.maximum - 1, max(replicas[replica].generation + 1000, clock))
        }
        replicas[replica].failures += 1
        let doubled = RouterControl.retryDelay * (1 << min(replicas[replica].failures - 1, 3))
        return min(doubled, RouterControl.maximumRetryDelay)
    }

    func leave(_ replica: Int) {
        (replicas[replica].router, replicas[replica].isLive, replicas[replica].failures) = (nil, false, 0)
    }

    /// The announcement as this replica's router knows it.
    func announcement(for replica: Int) -> Announcement {
        var announcement = announcement
        announcement.generation = replicas[replica].generation
        return announcement
    }

    func isLive(at router: String) -> Bool { replicas.contains { $0.router == router && $0.isLive } }

    func announcements(at router: String) -> [Announcement] {
        replicas.indices.filter { replicas[$0].router == router && replicas[$0].isLive }.map(announcement(for:))
    }
}
