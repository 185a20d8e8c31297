public import Admission
public import EventLoop
public import GatewayMetrics
public import MediaContract
import Refusals
public import StageHub
public import Wire

/// Who publishes now, who did lately, and who was turned away: one list for both protocols, from any thread.
///
/// Asked when a publish begins or ends; never for media. What ended or was refused is kept in bounded numbers, oldest first.
public final class SessionBoard: Sendable {
    public static let maximumEnded = 256
    public static let maximumRefused = 128

    private struct Content {
        var live: [String: SessionRecord] = [:]
        var ended: [SessionRecord] = []
        /// What those that ended had brought, however many.
        var received: [IngestProtocol: ReceivedTotals] = [:]
        var refused: [RefusedAttempt] = []
    }

    private let content = Lock(Content())
    private let metrics: PublishMetrics
    private let wallNow: @Sendable () -> WallTime

    public init(metrics: MetricsRegistry, wallNow: @escaping @Sendable () -> WallTime = { EventLoop.wallNow() }) {
        (self.metrics, self.wallNow) = (PublishMetrics(metrics), wallNow)
    }

    /// Follows a publish from now to its end. Call it on the publication's worker.
    /// - Parameter contract: how it stands with the media contract, where anybody looks.
    public func follow(_ publication: Publication, _ contract: ContractStanding? = nil) {
        guard let origin = publication.origin else { return }
        let record = SessionRecord(publication, contract, origin: origin, began: wallNow())
        content.withLock { $0.live[record.id] = record }
        if record.isConnection { metrics.granted(record) }
        publication.add(SessionWatch(record, of: publication, board: self, wallNow: wallNow))
    }

    /// Notes a refusal, and counts it.
    public func note(_ attempt: RefusedAttempt) {
        var attempt = attempt
        attempt.time = wallNow()
        metrics.refused(attempt)
        content.withLock { content in
            if content.refused.count >= Self.maximumRefused { content.refused.removeFirst() }
            content.refused.append(attempt)
        }
    }

    /// Notes a warning of a live publish: at most one a minute for each rule, so that looking for it may take its time.
    public func note(_ lease: PublishLease, warnedBy rule: String, _ sentence: String) {
        live(by: lease)?.note(SessionWarning(rule: rule, sentence: sentence, time: wallNow()))
    }

    /// Notes that a live publish of two encoders goes on with another one.
    public func note(_ lease: PublishLease, _ switched: SourceSwitch) {
        live(by: lease)?.note(switched)
    }

    private func live(by lease: PublishLease) -> SessionRecord? {
        content.withLock { content in content.live.values.first { $0.lease == lease } }
    }

    fileprivate func note(_ step: String, of record: SessionRecord) {
        let now = wallNow()
        record.note(step, at: now)
        guard record.isConnection else { return }
        metrics.reached(step, after: now - (record.steps.first?.time ?? record.began), record.ingestProtocol)
    }

    fileprivate func ended(_ record: SessionRecord, _ end: SessionEnd) {
        guard record.end(SessionEnding(end, at: wallNow())) else { return }
        content.withLock { content in
            content.live[record.id] = nil
            if content.ended.count >= Self.maximumEnded { content.ended.removeFirst() }
            content.ended.append(record)
            content.received.add(record)
        }
        if record.isConnection { metrics.ended(record) }
        SessionSummary(record).log()
    }

    /// In no order.
    public var live: [SessionRecord] { content.withLock { Array($0.live.values) } }
    /// Oldest first.
    public var ended: [SessionRecord] { content.withLock { $0.ended } }
    /// What connections have brought until now.
    var received: [IngestProtocol: ReceivedTotals] {
        // Of one moment: each is among those that live or among those that ended.
        let (ended, live) = content.withLock { ($0.received, Array($0.live.values)) }
        return live.reduce(into: ended) { $0.add($1) }
    }
    /// Oldest first.
    public var refused: [RefusedAttempt] { content.withLock { $0.refused } }

    public func session(id: String) -> SessionRecord? {
        content.withLock { content in content.live[id] ?? content.ended.last { $0.id == id } }
    }
}

/// Notices when a publish's first media passes, when it has started, which layers it has, and its end. Counts nothing: that is
/// the ingest's.
private final class SessionWatch: MediaSink {
    private let record: SessionRecord
    private let board: SessionBoard
    private let wallNow: @Sendable () -> WallTime
    /// Holds its observers until it ends.
    private unowned let publication: Publication
    private var awaited = FirstMedia.allCases

    init(
        _ record: SessionRecord, of publication: Publication, board: SessionBoard, wallNow: @escaping @Sendable () -> WallTime
    ) {
        (self.record, self.publication, self.board, self.wallNow) = (record, publication, board, wallNow)
    }

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        if run.track.kind == .audio { return reached(.firstAudio) }
        reached(.firstVideo)
        if run.isKeyframe { reached(.firstKeyframe) }
    }

    private func reached(_ step: FirstMedia) {
        guard let index = awaited.firstIndex(of: step) else { return }
        awaited.remove(at: index)
        // All have come: what follows would only be looked at.
        if awaited.isEmpty { publication.stopForwarding(to: self) }
        board.note(step.rawValue, of: record)
    }

    func layersChanged() { record.note(publication.layers) }

    func publishStarted() { record.noteStarted() }

    func muteChanged(_ track: TrackID, isMuted: Bool) {
        record.noteMute(isMuted ? "\(track.kind)Muted" : "\(track.kind)Unmuted", at: wallNow())
    }

    func ended(_ reason: SessionEnd) { board.ended(record, reason) }
}
