import EventLoop
import GatewayLogging
import GatewayMetrics
import StageHub
import Thumbnails
import Wire

/// What the writer's thread is told.
enum RecordingMessage: Sendable {
    case began(RecordedParticipant, RecordingPlan, RecordingFeed, tracksShareClock: Bool)
    case answered(ObjectIdentifier, Result<Void, RecordingTargetError>)
    /// Nil when no picture came out of the keyframe.
    case pictured(ObjectIdentifier, [UInt8]?)
    case stop
}

/// The thread that writes recordings: it looks at every feed some ten times a second, and nobody on a media loop wakes it or waits
/// for it. A disk that stalls stalls this thread alone. Confined to itself.
final class RecordingThread {
    /// A publish whose blocks come; its recording may have failed.
    private struct Live {
        let feed: RecordingFeed
        let recording: Recording?
    }

    private let loop: EventLoop
    private let spool: Spool
    private let director: any RecordingDirector
    private let metrics: RecordingMetrics
    private let thumbnailer: Thumbnailer
    private let latest: LatestThumbnails
    private var mailbox: Mailbox<RecordingMessage>?
    private var live: [Live] = []
    private var recordings: [ObjectIdentifier: Recording] = [:]
    /// What a process before us has still.
    private var foreignFolders: [String] = []
    private var timer: TimerWatch?
    private var foreignTimer: TimerWatch?
    /// While the thread is about to end.
    private var stopDeadline: TimerWatch?

    init(
        spool path: String, maximumByteCount: Int, director: any RecordingDirector, metrics: RecordingMetrics,
        thumbnailer: Thumbnailer, latest: LatestThumbnails
    ) throws {
        loop = try EventLoop()
        spool = try Spool(path: path, maximumByteCount: maximumByteCount)
        (self.director, self.metrics, self.thumbnailer, self.latest) = (director, metrics, thumbnailer, latest)
        metrics.spoolLimit.set(Double(maximumByteCount))
        mailbox = try Mailbox(loop: loop) { [unowned self] in receive($0) }
    }

    var sender: MailboxSender<RecordingMessage>? { mailbox?.sender }

    func run() {
        foreignFolders = spool.folders
        recover()
        loop.run()
    }

    private func receive(_ message: RecordingMessage) {
        switch message {
        case .began(let participant, let plan, let feed, let tracksShareClock):
            begin(participant, plan, feed, tracksShareClock: tracksShareClock)
        case .answered(let id, let result):
            recordings[id]?.answered(result)
            advance()
        case .pictured(let id, let jpeg):
            recordings[id]?.pictured(jpeg)
            advance()
        case .stop: stop()
        }
    }

    // MARK: - Publishes

    private func begin(
        _ participant: RecordedParticipant, _ plan: RecordingPlan, _ feed: RecordingFeed, tracksShareClock: Bool
    ) {
        // What the participant's publish before this one left in its feed belongs before it.
        look()
        let recording = resumed(participant, plan) ?? started(participant, plan)
        recording?.begin(expectsVideo: plan.media != .audioOnly, tracksShareClock: tracksShareClock)
        live.append(Live(feed: feed, recording: recording))
        keepLooking()
    }

    /// The participant's recording that waits for it, or that its former connection still feeds.
    private func resumed(_ participant: RecordedParticipant, _ plan: RecordingPlan) -> Recording? {
        let now = EventLoop.wallNow()
        let former = recordings.values.first { recording in
            let header = recording.header
            return header.participant.participantID == participant.participantID
                && header.participant.stageID == participant.stageID && header.bucket == plan.bucket
                && .seconds(header.reconnectWindowSeconds) == plan.reconnectWindow && plan.reconnectWindow > .zero
                && header.media ?? .audioAndVideo == plan.media && header.thumbnails == plan.thumbnails
                && recording.book.failure == nil && !recording.isOver(at: now)
        }
        guard let former else { return nil }
        if former.isLive {
            former.pause()
            live = live.map { $0.recording === former ? Live(feed: $0.feed, recording: nil) : $0 }
        }
        return former
    }

    private func started(_ participant: RecordedParticipant, _ plan: RecordingPlan) -> Recording? {
        let now = EventLoop.wallNow()
        let prefix = "\(participant.stageID)/\(participant.stageSessionID)/\(participant.participantID)/\(now.pathText)"
        let header = RecordingHeader(
            participant: participant, bucket: plan.bucket, prefix: prefix, segmentDuration: plan.segmentDuration,
            reconnectWindowSeconds: Int(plan.reconnectWindow.inSeconds), began: now, media: plan.media,
            thumbnails: plan.thumbnails)
        do throws(SpoolError) {
            let recording = try Recording(header, in: environment)
            recordings[ObjectIdentifier(recording)] = recording
            recording.tell(.starting)
            return recording
        } catch {
            metrics.failures.increment()
            Log.event(
                .error, "recording_failed",
                ["participant": .string(participant.participantID), "because": .string("\(error)")])
            director.changed(
                RecordingSummary(
                    participant: participant, bucket: plan.bucket, prefix: prefix, state: .failed("\(error)"), hasStarted: false,
                    startedAt: nil, endedAt: nil, duration: .zero, byteCount: 0, media: plan.media, thumbnails: plan.thumbnails))
            return nil
        }
    }

    private var environment: Recording.Environment {
        Recording.Environment(
            spool: spool, director: director, metrics: metrics,
            clocks: { (EventLoop.monotonicNow(), EventLoop.wallNow()) },
            makeAnswer: { [sender] recording in
                let id = ObjectIdentifier(recording)
                return { result in sender?.send(.answered(id, result)) }
            },
            makePicture: { [sender, thumbnailer] recording, unit in
                let id = ObjectIdentifier(recording)
                return thumbnailer.make(unit) { jpeg in sender?.send(.pictured(id, jpeg)) }
            },
            latest: latest)
    }

    // MARK: - Looking

    private func keepLooking() {
        guard timer == nil else { return }
        timer = loop.schedule(after: Self.interval, repeating: Self.interval) { [unowned self] in
            look()
            advance()
        }
    }

    /// Takes what waits in the feeds.
    private func look() {
        live = live.filter { live in
            let isLast = live.feed.drain { live.recording?.take($0) }
            if isLast { live.recording?.pause() }
            return !isLast
        }
    }

    private func advance() {
        let now = EventLoop.wallNow()
        for (id, recording) in recordings where recording.advance(at: now) { recordings[id] = nil }
        metrics.spool.set(Double(spool.byteCount))
        if live.isEmpty, recordings.isEmpty { timer = nil }
        if stopDeadline != nil, recordings.values.allSatisfy(\.isIdle) { loop.stop() }
    }

    // MARK: - What former processes left

    /// A process whose place we take has its recordings until it ends: they are looked at again.
    private func recover() {
        foreignFolders = foreignFolders.filter { !recover($0) }
        if !recordings.isEmpty { keepLooking() }
        guard !foreignFolders.isEmpty else { return }
        foreignTimer = loop.schedule(after: Self.foreignInterval) { [unowned self] in recover() }
    }

    /// - Returns: false while another process has it.
    private func recover(_ folder: String) -> Bool {
        do throws(SpoolError) {
            guard let recording = try Recording(recovering: folder, in: environment) else {
                spool.remove(folder)
                return true
            }
            recordings[ObjectIdentifier(recording)] = recording
            Log.event(
                .info, "recording_recovered",
                ["participant": .string(recording.header.participant.participantID), "prefix": .string(recording.header.prefix)])
            recording.tell(.stopping)
        } catch {
            if error.isHeld { return false }
            Log.event(.error, "recording_not_recovered", ["folder": .string(folder), "because": .string("\(error)")])
        }
        return true
    }

    // MARK: - The end

    /// What is whole is stored as far as a short time allows; the next start goes on.
    private func stop() {
        look()
        for recording in recordings.values { recording.pause() }
        live = []
        stopDeadline = loop.schedule(after: Self.longestStop) { [unowned self] in loop.stop() }
        advance()
    }

    private static let interval = Duration.milliseconds(100)
    private static let foreignInterval = Duration.seconds(2)
    private static let longestStop = Duration.seconds(5)
}
