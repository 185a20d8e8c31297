import Admission
import EventLoop
import Refusals
import StageHub
import Store

/// One live publish of a worker and its replicas, which the records of its participant decide.
final class ReplicatedPublish: PublicationObserver {
    /// It keeps its observers until it ends, and so outlives this.
    private unowned let publication: Publication
    let source: StageParticipant
    private let lease: PublishLease
    /// It keeps this publish until that ends.
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
        look(at: replicator.book.running(of: source))
    }

    /// Brings what is replicated in line with the records.
    /// - Parameter records: those of the source that run.
    func look(at records: [Replication]) {
        guard isStarted, !isOver else { return }
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
            let holder = LocalHolder(replication: record.number, onEnd: onEnd)
            holder.progressed(at: replicator.loop.now)
            let grant = publication.grant.replica(by: record, on: stage, sessionID: lease.stageSessionID)
            return Replica(id, record, grant, holder: holder, of: self, replicator)
        }
        replicas[record.key.destinationStageARN] = replica
        replica?.start()
    }

    /// A second publication of the same media.
    func makeFeed(_ grant: PublishGrant, _ lease: PublishLease, _ holder: LocalHolder) -> ReplicaFeed {
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
