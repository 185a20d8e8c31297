import Admission
public import EventLoop
import Refusals
public import StageHub
import Store
import Wire

/// One worker's part in replications: has its publications stand on the other stages that the records name.
///
/// A replica is a publication of its own on the same worker, with a lease of the destination, which `attach` gives the sinks of any
/// publication: routers, viewers and recordings see no difference. Confined to the worker.
public final class Replicator {
    let book: ReplicationBook
    let loop: EventLoop
    let replies: ReplyBox
    /// Connects a replica with routers, viewers and what else a publication has.
    let attach: (Publication) -> Void
    let timing: ReplicationTiming
    private var mailbox: Mailbox<ReplicationOrder>?
    private var publishes: [ObjectIdentifier: ReplicatedPublish] = [:]
    private var replicas: [Int: Replica] = [:]
    private var lastNumber = 0

    /// - Throws: when the kernel gives no more descriptors.
    public init(
        loop: EventLoop, book: ReplicationBook, timing: ReplicationTiming = ReplicationTiming(),
        attach: @escaping (Publication) -> Void
    ) throws(SystemError) {
        (self.loop, self.book, self.timing, self.attach) = (loop, book, timing, attach)
        replies = try ReplyBox(loop: loop)
        let mailbox = try Mailbox<ReplicationOrder>(loop: loop) { [unowned self] in receive($0) }
        self.mailbox = mailbox
        book.add(mailbox.sender)
    }

    /// A publish of this worker is live; it can be replicated until it ends.
    public func publishBegan(_ publication: Publication) {
        let publish = ReplicatedPublish(publication, of: self)
        publishes[ObjectIdentifier(publish)] = publish
        publication.add(observer: publish)
    }

    /// The worker stops: no lease outlives it.
    public func stop() {
        for replica in replicas.values { replica.unwanted(.shutdown) }
    }

    func ended(_ publish: ReplicatedPublish) { publishes[ObjectIdentifier(publish)] = nil }

    /// - Returns: the replica's number.
    func keep(_ make: (_ number: Int, _ onEnd: @escaping @Sendable (LeaseEnd) -> Void) -> Replica) -> Replica? {
        guard let sender = mailbox?.sender else { return nil }
        lastNumber += 1
        let number = lastNumber
        let replica = make(number) { sender.send(.leaseEnded(replica: number, $0)) }
        replicas[number] = replica
        return replica
    }

    func forget(_ replica: Replica) { replicas[replica.id] = nil }

    private func receive(_ order: ReplicationOrder) {
        switch order {
        case .look: for publish in publishes.values { publish.look() }
        case .leaseEnded(let number, let reason): replicas[number]?.leaseEnded(reason)
        }
    }
}

/// How long things may take.
public struct ReplicationTiming: Sendable {
    /// A replica's lease waits so long for whoever takes its source over.
    public var lingering = Duration.seconds(10)
    /// So long after its lease was taken, a source that is still live has not been taken over.
    public var suspicion = Duration.seconds(3)

    public init() {}
}

/// One live publish as its worker's replicator sees it, which knows the records of its participant.
final class ReplicatedPublish: PublicationObserver {
    /// Holds its observers until it ends.
    private unowned let publication: Publication
    private let source: StageParticipant
    private let lease: PublishLease
    /// Has this publish until it ends.
    private unowned let replicator: Replicator
    private var isStarted = false
    private(set) var isOver = false
    private var muted: Set<TrackID> = []
    /// By destination.
    private var replicas: [String: Replica] = [:]

    init(_ publication: Publication, of replicator: Replicator) {
        (self.publication, self.replicator, lease) = (publication, replicator, publication.lease)
        source = StageParticipant(publication.grant.participantID, of: publication.grant.stageARN)
    }

    func publishStarted() {
        isStarted = true
        look()
    }

    /// Brings what is replicated in line with the records.
    func look() {
        guard isStarted, !isOver else { return }
        let records = replicator.book.running(of: source)
        for (destination, replica) in replicas
        where !records.contains(where: { $0.key.destinationStageARN == destination && $0.number == replica.record.number }) {
            replicas[destination] = nil
            replica.unwanted(.closed)
        }
        for record in records where replicas[record.key.destinationStageARN] == nil { start(record) }
    }

    private func start(_ record: Replication) {
        guard let stage = replicator.book.store.state.stages[record.key.destinationStageARN] else { return }
        let replica = replicator.keep { id, onEnd in
            let holder = ReplicaHolder(number: record.number, at: replicator.loop.now, onEnd: onEnd)
            let grant = publication.grant.replica(by: record, on: stage, sessionID: lease.stageSessionID)
            return Replica(id, record, grant, holder: holder, of: self, replicator)
        }
        replicas[record.key.destinationStageARN] = replica
        replica?.start()
    }

    /// A second publication of the same media.
    func makeFeed(_ grant: PublishGrant, _ lease: PublishLease, _ holder: ReplicaHolder) -> ReplicaFeed {
        let origin = publication.origin.map { origin in
            PublishOrigin(
                sessionID: "\(origin.sessionID)-\(grant.stageID)", source: origin.source, userAgent: origin.userAgent,
                steps: origin.steps)
        }
        let second = Publication(replicating: publication, grant: grant, lease: lease, origin: origin)
        return ReplicaFeed(from: publication, to: second, holder: holder)
    }

    func begin(_ feed: ReplicaFeed) {
        publication.add(feed)
        replicator.attach(feed.replica)
        for track in muted { feed.muteChanged(track, isMuted: true) }
        // The destination begins with a keyframe; an RTMP encoder cannot be asked, and its next one comes by itself.
        guard let source = publication.source, source.canRequestKeyframe else { return }
        for track in publication.formats.keys where track.kind == .video { source.requestKeyframe(track) }
    }

    func end(_ feed: ReplicaFeed) { if !isOver { publication.remove(feed) } }

    var sourceLease: PublishLease { lease }
    var ingestProtocol: IngestProtocol { publication.ingestProtocol }

    // MARK: - PublicationObserver

    func muteChanged(_ track: TrackID, isMuted: Bool) {
        if isMuted { muted.insert(track) } else { muted.remove(track) }
    }

    func ended(_ reason: SessionEnd) {
        isOver = true
        for replica in replicas.values { replica.sourceEnded(reason) }
        replicas = [:]
        // Whoever comes back within the window goes on with it; without one it is over.
        if reason != .takenOver {
            for record in replicator.book.running(of: source) where record.reconnectWindow == 0 { replicator.book.stop(record) }
        }
        replicator.ended(self)
    }
}

extension PublishGrant {
    /// What the participant is on the destination: its own name, the request's attributes over its own, the destination's tags.
    fileprivate func replica(by record: Replication, on stage: Stage, sessionID: String) -> PublishGrant {
        var grant = PublishGrant(
            participantID: participantID, stageARN: stage.arn, stageID: stage.id, userID: userID,
            attributes: attributes.merging(record.attributes) { _, new in new }, stageTags: stage.tags,
            credentialHash: "replica \(record.number)")
        grant.userAgent = userAgent
        grant.replica = ReplicaOrigin(
            sourceStageARN: record.key.sourceStageARN, sourceSessionID: sessionID, number: record.number)
        return grant
    }
}
