import Admission
import Wire

/// A publish that holds its participant's lease: how far it has come, and what the history is told of it.
///
/// A participant that also watches joins once, and leaves when it does neither any more.
struct HeldPublish {
    struct Warning {
        var rule: String
        var sentence: String
    }

    /// There are no more rules than this, and each warns once before a publish starts.
    private static let maximumEarlyWarnings = 16

    private(set) var lease: PublishLease
    private(set) var grant: PublishGrant
    private(set) var holder: any LeaseHolder
    private var ingestProtocol: IngestProtocol
    private var joinedAt: WallTime
    /// Whether JOINED has been recorded.
    private(set) var isAnnounced = false
    private(set) var isPublishing = false
    /// It was a network test, and is about to end.
    private(set) var wasTest = false
    /// The generation by which the history knows it, where that is not the lease's own (`revive`).
    private var revivedGeneration: UInt64?
    /// The generation by which the history was told of its participant last; nil before that.
    private var toldGeneration: UInt64?
    /// Another session goes on with it, and the history still has what the former said of itself.
    private var isPassedOn = false
    /// What is told once the publish has started; if it never does, they leave no trace.
    private var earlyWarnings: [Warning] = []

    init(
        _ lease: PublishLease, _ grant: PublishGrant, _ ingestProtocol: IngestProtocol, holder: any LeaseHolder,
        joinedAt: WallTime
    ) {
        (self.lease, self.grant, self.ingestProtocol) = (lease, grant, ingestProtocol)
        (self.holder, self.joinedAt) = (holder, joinedAt)
    }

    /// The generation by which the history knows it.
    var generation: UInt64 { revivedGeneration ?? lease.generation }

    /// Another session goes on with the publish.
    /// - Returns: who held it.
    mutating func pass(
        to newHolder: any LeaseHolder, _ newLease: PublishLease, _ newGrant: PublishGrant, _ newProtocol: IngestProtocol
    ) -> any LeaseHolder {
        let former = holder
        (holder, lease, grant, ingestProtocol) = (newHolder, newLease, newGrant, newProtocol)
        (revivedGeneration, isPassedOn) = (nil, true)
        return former
    }

    mutating func noteTest() { wasTest = true }
}

// MARK: - What the history is told

extension HeldPublish {
    /// Its participant is there.
    /// - Parameters:
    ///   - isWatching: it has joined already.
    ///   - node: through which it watches, in a cluster.
    mutating func announce(isWatching: Bool, node: String?) -> [HistoryWrite] {
        (isAnnounced, toldGeneration, isPassedOn) = (true, generation, false)
        return [participant(isConnected: true, node: node)] + (isWatching ? [] : [event(.joined, joinedAt)])
    }

    /// - Parameter node: through which its participant watches too, in a cluster.
    mutating func start(node: String?, now: WallTime) -> [HistoryWrite] {
        (isPublishing, toldGeneration, isPassedOn) = (true, generation, false)
        let warnings = earlyWarnings.map { event(.publishWarning, now, warning: $0) }
        earlyWarnings = []
        return [event(.publishStarted, now), participant(isConnected: true, node: node)] + warnings
    }

    /// What another session that goes on with the publish says of itself: its protocol and program may be others. The history
    /// keeps the generation that it knows: by a newer one it would take the publish for another, and the known one for overtaken.
    mutating func goOn(node: String?) -> [HistoryWrite] {
        guard isPassedOn, let toldGeneration else { return [] }
        isPassedOn = false
        return [participant(isConnected: true, node: node, by: toldGeneration)]
    }

    mutating func warned(_ warning: Warning, now: WallTime) -> [HistoryWrite] {
        if isPublishing { return [event(.publishWarning, now, warning: warning)] }
        if earlyWarnings.count < Self.maximumEarlyWarnings { earlyWarnings.append(warning) }
        return []
    }

    func failed(errorCode: String, now: WallTime) -> HistoryWrite { event(.publishError, now, errorCode: errorCode) }

    /// The publish is over.
    /// - Parameter isWatching: its participant stays.
    func ending(isWatching: Bool, now: WallTime) -> [HistoryWrite] {
        guard isAnnounced else { return [] }
        let stopped = isPublishing ? [event(.publishStopped, now)] : []
        if isWatching { return stopped }
        let left = stopped + [event(.left, now), participant(isConnected: false, node: nil)]
        guard wasTest else { return left }
        return left + [
            .wasTest(
                stageARN: grant.stageARN, sessionID: lease.stageSessionID, participantID: lease.participantID,
                generation: generation)
        ]
    }

    /// The history took it for gone: it joins again, as if it had never been announced.
    mutating func revive(generation: UInt64, now: WallTime) {
        (isAnnounced, isPublishing, revivedGeneration, joinedAt) = (false, false, generation, now)
    }

    private func event(
        _ name: ParticipantEvent.Name, _ time: WallTime, errorCode: String = "", warning: Warning? = nil
    ) -> HistoryWrite {
        var event = ParticipantEvent(
            name: name, time: time, of: SessionParticipant(grant, sessionID: lease.stageSessionID), userID: grant.userID,
            errorCode: errorCode, generation: generation)
        (event.rule, event.sentence) = (warning?.rule ?? "", warning?.sentence ?? "")
        event.isReplica = grant.replica != nil
        return .event(event)
    }

    private func participant(isConnected: Bool, node: String?, by toldGeneration: UInt64? = nil) -> HistoryWrite {
        var participant = Participant(grant, ingestProtocol, sessionID: lease.stageSessionID, firstJoinTime: joinedAt)
        (participant.isConnected, participant.published) = (isConnected, isPublishing)
        (participant.generation, participant.node) = (toldGeneration ?? generation, node)
        return .participant(participant)
    }
}

// MARK: - From one process to another

extension HeldPublish {
    init(_ handed: HandedLease, holder: any LeaseHolder) {
        self.init(handed.lease, handed.grant, handed.ingestProtocol, holder: holder, joinedAt: handed.joinedAt)
        (isAnnounced, isPublishing) = (handed.isAnnounced, handed.isPublishing)
        // The other process may have told it by an older one: a node that is alone keeps none with its participants.
        toldGeneration = isAnnounced ? generation : nil
    }

    func handed(in session: StageSession, isSessionRecorded: Bool) -> HandedLease {
        HandedLease(
            lease: lease, grant: grant, ingestProtocol: ingestProtocol, joinedAt: joinedAt, isAnnounced: isAnnounced,
            isPublishing: isPublishing, session: session, isSessionRecorded: isSessionRecorded)
    }
}
