public import Admission
public import EventLoop
import Synchronization
public import Wire

/// One publication's forwarding, for as long as it lives.
public struct ForwardingID: Sendable, Hashable {
    public var participant: ParticipantKey
    /// Tells publications of one participant apart, on whichever workers they are: a takeover may go from one to another.
    public var serial: UInt64
}

extension ForwardingID {
    /// The next publication of a participant.
    init(_ participant: ParticipantKey) {
        self.init(participant: participant, serial: Self.count.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    private static let count = Atomic<UInt64>(0)
}

/// From workers to the control loop.
public enum ForwardingEvent: Sendable {
    case started(ForwardingID, Announcement, worker: MailboxSender<LegCommand>)
    /// Formats, mute or keyframe requests turned out different.
    case changed(ForwardingID, Announcement)
    /// RTCP came from the router of this replica.
    case feedback(ForwardingID, replica: Int, at: MonotonicTime)
    case ended(ForwardingID, WithdrawalReason)
}

/// From the control loop to the worker of a publication.
public enum LegCommand: Sendable {
    case open(ForwardingID, replica: Int, LegPlan)
    /// The router is lost: keep the latest GOP for the next one.
    case close(ForwardingID, replica: Int)
}
