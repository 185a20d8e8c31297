import Admission
import Wire

/// Who watches whom, and what follows from it for the history. Pure: sessions and the clock are `LeaseTable`'s, which holds it.
struct ViewerTable {
    struct Viewer {
        var grant: SubscribeGrant
        var sessionID: String
        var generation: UInt64
        var joinedAt: WallTime
        /// Sessions by the participant that they watch.
        var watched: [String: Int] = [:]
        /// Those of them that publish on another stage.
        var replicas: Set<String> = []

        var place: SessionParticipant {
            SessionParticipant(grant.participantID, ofStage: grant.stageARN, sessionID: sessionID)
        }
    }

    /// How often an error of the same kind, of a viewer that tries again and again, is told.
    static let errorInterval = Duration.seconds(60)
    /// Errors of one viewer that are remembered, one for each publisher of a stage: whom it asks for may be made up.
    static let maximumErrorsOfViewer = 12
    /// Errors of one stage's viewers that are remembered; beyond it none of that stage are told until some have faded.
    static let maximumErrors = 256

    /// Which error of which viewer.
    private struct ErrorKey: Hashable {
        var viewer: ParticipantKey
        var watched: String
        var code: String
    }

    private var viewers: [ParticipantKey: Viewer] = [:]
    private var errors: [ErrorKey: WallTime] = [:]
    /// Through which node of a cluster they watch; nil without one.
    private let node: String?

    init(node: String?) { self.node = node }

    var values: Dictionary<ParticipantKey, Viewer>.Values { viewers.values }

    subscript(_ key: ParticipantKey) -> Viewer? { viewers[key] }

    /// Through which node of a cluster the participant watches, if it does.
    func node(of key: ParticipantKey) -> String? { viewers[key] == nil ? nil : node }

    /// - Parameters:
    ///   - isReplica: whom it watches publishes on another stage.
    ///   - isPresent: it publishes, so that it has joined already.
    mutating func start(
        _ watching: Watching, isReplica: Bool, sessionID: String, generation: UInt64, isPresent: Bool, now: WallTime
    ) -> [HistoryWrite] {
        let key = watching.grant.participant
        let isNew = viewers[key] == nil
        var viewer =
            viewers[key] ?? Viewer(grant: watching.grant, sessionID: sessionID, generation: generation, joinedAt: now)
        let sessions = viewer.watched[watching.participantID, default: 0] + 1
        viewer.watched[watching.participantID] = sessions
        if isReplica { viewer.replicas.insert(watching.participantID) } else { viewer.replicas.remove(watching.participantID) }
        viewers[key] = viewer
        let joined = isNew ? join(viewer, isPresent: isPresent) : []
        return sessions == 1 ? joined + [event(.subscribeStarted, viewer, now, watched: watching.participantID)] : joined
    }

    /// - Parameter isPresent: it publishes, so that it stays.
    mutating func stop(_ watching: Watching, isPresent: Bool, now: WallTime) -> [HistoryWrite] {
        let key = watching.grant.participant
        guard var viewer = viewers[key], let sessions = viewer.watched[watching.participantID] else { return [] }
        viewer.watched[watching.participantID] = sessions > 1 ? sessions - 1 : nil
        viewers[key] = viewer.watched.isEmpty ? nil : viewer
        guard sessions == 1 else { return [] }
        let stopped = [event(.subscribeStopped, viewer, now, watched: watching.participantID)]
        return viewer.watched.isEmpty && !isPresent ? stopped + leave(viewer, now) : stopped
    }

    /// A viewer that is turned away; an error that was told lately is not told again.
    /// - Parameter generation: 0 for who is not there.
    mutating func refused(
        _ watching: Watching, sessionID: String, generation: UInt64, errorCode: String, isPresent: Bool, now: WallTime
    ) -> [HistoryWrite] {
        let key = watching.grant.participant
        let error = ErrorKey(viewer: key, watched: watching.participantID, code: errorCode)
        errors = errors.filter { now - $0.value < Self.errorInterval }
        let ofStage = errors.keys.filter { $0.viewer.stageID == key.stageID }
        guard errors[error] == nil, ofStage.count < Self.maximumErrors,
            ofStage.count(where: { $0.viewer == key }) < Self.maximumErrorsOfViewer
        else { return [] }
        errors[error] = now
        let viewer =
            viewers[key] ?? Viewer(grant: watching.grant, sessionID: sessionID, generation: generation, joinedAt: now)
        let isThere = isPresent || viewers[key] != nil
        return (isThere ? [] : [participant(viewer, isConnected: false)])
            + [event(.subscribeError, viewer, now, watched: watching.participantID, errorCode: errorCode)]
    }

    /// The participant publishes as well from now on: what follows is of that generation.
    mutating func adopt(_ generation: UInt64, _ key: ParticipantKey) { viewers[key]?.generation = generation }

    /// Ends the viewers of a stage in the history and begins them again, in a session of their own or after they were taken for
    /// gone.
    /// - Parameter generation: the new one of each.
    mutating func move(
        ofStage arn: String, to sessionID: String, isPresent: (ParticipantKey) -> Bool, now: WallTime,
        generation: (ParticipantKey) -> UInt64
    ) -> [HistoryWrite] {
        var writes: [HistoryWrite] = []
        for (key, old) in viewers.sorted(by: { $0.key.participantID < $1.key.participantID }) where old.grant.stageARN == arn {
            let stopped = old.watched.keys.sorted().map { event(.subscribeStopped, old, now, watched: $0) }
            writes += stopped + (isPresent(key) ? [] : leave(old, now))
            var viewer = old
            (viewer.sessionID, viewer.generation, viewer.joinedAt) = (sessionID, generation(key), now)
            viewers[key] = viewer
            writes += join(viewer, isPresent: isPresent(key))
            writes += viewer.watched.keys.sorted().map { event(.subscribeStarted, viewer, now, watched: $0) }
        }
        return writes
    }

    // MARK: - What is told

    private func join(_ viewer: Viewer, isPresent: Bool) -> [HistoryWrite] {
        isPresent ? [] : [participant(viewer, isConnected: true), event(.joined, viewer, viewer.joinedAt)]
    }

    private func leave(_ viewer: Viewer, _ now: WallTime) -> [HistoryWrite] {
        [event(.left, viewer, now), participant(viewer, isConnected: false)]
    }

    private func event(
        _ name: ParticipantEvent.Name, _ viewer: Viewer, _ time: WallTime, watched: String = "", errorCode: String = ""
    ) -> HistoryWrite {
        var event = ParticipantEvent(
            name: name, time: time, of: viewer.place, userID: viewer.grant.userID, errorCode: errorCode,
            generation: viewer.generation)
        event.remoteParticipantID = watched
        event.isReplica = viewer.replicas.contains(watched)
        return .event(event)
    }

    private func participant(_ viewer: Viewer, isConnected: Bool) -> HistoryWrite {
        let grant = viewer.grant
        var participant = Participant(
            viewer.place, userID: grant.userID, attributes: grant.attributes, firstJoinTime: viewer.joinedAt, ingestProtocol: "",
            ingestConfigurationARN: "", client: ClientAttributes(userAgent: grant.userAgent))
        (participant.isConnected, participant.generation, participant.node) = (isConnected, viewer.generation, node)
        return .participant(participant)
    }
}
