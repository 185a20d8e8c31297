import Admission
public import EventLoop
public import GatewayMetrics
public import StageHub
import Thumbnails
public import Transcoding
import Wire

/// The recorder of a node: publishes come in on any worker, their segments go to where a director says.
///
///     let recordings = try Recordings(spool: "DIR/spool", maximumByteCount: 4 << 30, director: director, metrics: registry)
///     recordings.publishBegan(publication)  // on the publication's worker
public final class Recordings: Sendable {
    private let director: any RecordingDirector
    private let sender: MailboxSender<RecordingMessage>
    private let thread: WorkerThread
    private let thumbnailer: Thumbnailer
    /// For those who look on.
    public let thumbnails = LatestThumbnails()

    /// Starts the writer's thread and the one of thumbnails. The writer's first finishes what former processes left in the spool.
    /// - Parameters:
    ///   - path: of the spool; it is made where it is missing.
    ///   - maximumByteCount: what the spool may hold of segments that are not stored yet.
    ///   - transcoding: the threads that make AAC of Opus; nil: sound is recorded as it came.
    /// - Throws: when the thread or the spool cannot be had.
    public init(
        spool path: String, maximumByteCount: Int, director: any RecordingDirector, metrics registry: MetricsRegistry,
        transcoding: TranscodingPool? = nil
    ) throws(SystemError) {
        self.director = director
        let (thumbnailer, latest) = (try Thumbnailer(metrics: registry), thumbnails)
        self.thumbnailer = thumbnailer
        let metrics = RecordingMetrics(registry)
        (thread, sender) = try WorkerThread.startServing(name: "recorder") { () throws(SystemError) in
            let thread = try RecordingThread(
                spool: path, maximumByteCount: maximumByteCount, director: director, metrics: metrics,
                thumbnailer: thumbnailer, latest: latest, transcoding: transcoding)
            return (thread.sender, thread.run)
        }
    }

    /// A publish is live: it is recorded if the director has a plan for it. On the publication's worker.
    public func publishBegan(_ publication: Publication) {
        let lease = publication.lease
        let participant = RecordedParticipant(
            stageID: lease.stageID, stageSessionID: lease.stageSessionID, participantID: lease.participantID)
        guard let plan = director.plan(for: participant, isReplica: publication.grant.replica != nil) else { return }
        let tap = RecordingTap(publication, takesVideo: plan.media != .audioOnly, takesAudio: plan.media != .thumbnailsAlone)
        let publish = RecordedPublish(
            participant: participant, plan: plan, feed: tap.feed, tracksShareClock: publication.ingestProtocol != .whip)
        if sender.send(.began(publish)) { publication.add(tap) }
    }

    /// Ends all recordings, waits a little while for what is on its way, and returns when the thread has ended.
    public func stop() {
        sender.send(.stop)
        thread.join()
        thumbnailer.stop()
    }
}
