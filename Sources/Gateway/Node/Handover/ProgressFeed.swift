import EventLoop
import Handover
import HandoverCodec
import JSON
import Store
import Wire

/// Tells the successor again and again what changes all the time: how far the holders of our leases have come, and what each live
/// session does. As long as it is kept. On the control loop.
final class ProgressFeed {
    private let loop: EventLoop
    private let channel: HandoverChannel
    private let leases: EmbeddedLeases
    /// Live sessions, those of the processes before us included.
    private let sessions: () -> [JSONValue]
    private var timer: TimerWatch?
    /// When the sessions were told last.
    private var toldSessions = MonotonicTime.zero

    init(loop: EventLoop, channel: HandoverChannel, leases: EmbeddedLeases, sessions: @escaping () -> [JSONValue]) {
        (self.loop, self.channel, self.leases, self.sessions) = (loop, channel, leases, sessions)
        timer = loop.schedule(after: Self.interval, repeating: Self.interval) { [unowned self] in tell() }
    }

    /// Waits for nobody: a successor that is behind hears the next one.
    private func tell() {
        guard !channel.isBehind else { return }
        let entries = leases.progress.map { HolderProgress(lease: $0.lease, nanoseconds: $0.at.nanoseconds) }
        channel.send(entries) { .progress($0) }
        if loop.now - toldSessions >= Self.sessionsInterval { tellSessions() }
    }

    /// Sessions as text, because each process knows members of its own. One too long to be told is left out.
    private func tellSessions() {
        toldSessions = loop.now
        let texts = sessions().map { PeerBytes($0.serialized()) }
        channel.send(texts.filter { $0.bytes.count <= Self.maximumSessionLength }) { .sessions($0, isLast: false) }
        channel.send(.sessions([], isLast: true))
    }

    private static let interval: Duration = .milliseconds(250)
    private static let sessionsInterval: Duration = .seconds(1)
    /// Bytes of one session's JSON.
    private static let maximumSessionLength = 16 * 1024
}
