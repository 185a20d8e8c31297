public import Admission
import EventLoop
import Refusals
public import StageHub
public import Wire

/// Who is live on which stage of this node. Every publish writes its name there, watchers of a stage are told of each change.
///
/// Shared by all workers. Only joining, muting, leaving and watching touch its lock; media never does.
public final class StageBoard: Sendable {
    /// What a watcher is told, in the order in which it happened.
    public enum Event: Sendable, Equatable {
        /// A participant went live, again after another publish of its own, or muted a track.
        case present(LiveParticipant)
        case left(participantID: String)
    }

    /// An event with the watcher that it is for: a worker's watchers share one mailbox.
    public struct Notice: Sendable, Equatable {
        public var watcher: Int
        public var event: Event
    }

    fileprivate struct Content {
        var stages: [String: [String: LiveParticipant]] = [:]
        var watchers: [String: [Int: MailboxSender<Notice>]] = [:]
        var watcherCount = 0
        var lastWatcher = 0
        var lastSerial: UInt64 = 0
    }

    /// Watchers of all stages together; each costs an HTTP connection as well.
    public static let maximumWatchers = 500

    private let content = Lock(Content())

    public init() {}

    var watcherCount: Int { content.withLock { $0.watcherCount } }

    /// Everybody live on the stage, by participant id.
    public func participants(ofStage stageID: String) -> [LiveParticipant] {
        content.withLock { ($0.stages[stageID] ?? [:]).values.sorted { $0.participantID < $1.participantID } }
    }

    /// Puts a publication's participant on the board until it ends.
    public func attach(_ publication: Publication) {
        let since = EventLoop.wallNow()
        let participant = content.withLock { content in
            content.lastSerial += 1
            let participant = LiveParticipant(
                publication.grant, protocol: publication.ingestProtocol, since: since, serial: content.lastSerial)
            content.put(participant)
            return participant
        }
        publication.add(observer: BoardEntry(participant, on: self))
    }

    /// Tells `sender` who is live now, then every change, until `stopWatching`.
    /// - Returns: the watcher's number in its notices; nil when there are too many watchers.
    func watch(stage stageID: String, _ sender: MailboxSender<Notice>) -> Int? {
        content.withLock { content in
            guard content.watcherCount < Self.maximumWatchers else { return nil }
            content.watcherCount += 1
            content.lastWatcher += 1
            let watcher = content.lastWatcher
            content.watchers[stageID, default: [:]][watcher] = sender
            for participant in (content.stages[stageID] ?? [:]).values.sorted(by: { $0.serial < $1.serial }) {
                sender.send(Notice(watcher: watcher, event: .present(participant)))
            }
            return watcher
        }
    }

    func stopWatching(stage stageID: String, _ watcher: Int) {
        content.withLock { content in
            guard content.watchers[stageID]?.removeValue(forKey: watcher) != nil else { return }
            content.watcherCount -= 1
            if content.watchers[stageID]?.isEmpty == true { content.watchers[stageID] = nil }
        }
    }

    /// Writes a participant's new state, unless a later publish has taken its place.
    func update(_ participant: LiveParticipant) {
        content.withLock { content in
            guard content.holds(participant) else { return }
            content.put(participant)
        }
    }

    /// Takes a participant off, unless a later publish has taken its place.
    func remove(_ participant: LiveParticipant) {
        content.withLock { content in
            guard content.holds(participant) else { return }
            content.stages[participant.stageID]?[participant.participantID] = nil
            if content.stages[participant.stageID]?.isEmpty == true { content.stages[participant.stageID] = nil }
            content.tell(.left(participantID: participant.participantID), stage: participant.stageID)
        }
    }
}

extension StageBoard.Content {
    func holds(_ participant: LiveParticipant) -> Bool {
        stages[participant.stageID]?[participant.participantID]?.serial == participant.serial
    }

    mutating func put(_ participant: LiveParticipant) {
        stages[participant.stageID, default: [:]][participant.participantID] = participant
        tell(.present(participant), stage: participant.stageID)
    }

    func tell(_ event: StageBoard.Event, stage stageID: String) {
        for (watcher, sender) in watchers[stageID] ?? [:] { sender.send(.init(watcher: watcher, event: event)) }
    }
}

/// A participant that is live on this node, as watchers of its stage are told of it.
public struct LiveParticipant: Sendable, Equatable {
    public var stageID: String
    public var participantID: String
    public var userID: String
    public var attributes: [String: String]
    public var ingestProtocol: IngestProtocol
    /// When this publish began.
    public var since: WallTime
    public var muted: Set<TrackID> = []
    /// Tells publishes of one participant apart: rises with every one.
    public var serial: UInt64

    init(_ grant: PublishGrant, protocol ingestProtocol: IngestProtocol, since: WallTime, serial: UInt64) {
        (stageID, participantID, userID, attributes) = (grant.stageID, grant.participantID, grant.userID, grant.attributes)
        (self.ingestProtocol, self.since, self.serial) = (ingestProtocol, since, serial)
    }
}

/// A publication's name on the board: it notices mute and the end. Confined to the publication's worker.
final class BoardEntry: PublicationObserver {
    private var participant: LiveParticipant
    private let board: StageBoard

    init(_ participant: LiveParticipant, on board: StageBoard) { (self.participant, self.board) = (participant, board) }

    func muteChanged(_ track: TrackID, isMuted: Bool) {
        if isMuted { participant.muted.insert(track) } else { participant.muted.remove(track) }
        board.update(participant)
    }

    func ended(_ reason: SessionEnd) { board.remove(participant) }
}
