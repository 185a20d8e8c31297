import EventLoop
import GatewayLogging
import GatewayMetrics
import StageHub
import Thumbnails
import Transcoding
import Wire

/// The thread that writes recordings: it looks at every feed some ten times a second, and nobody on a media loop wakes it or
/// waits for it. A disk that stalls stalls this thread alone. Confined to itself.
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
    private let gaps = GapNotice()
    private let recordings = RecordingTable()
    private let arrivals: Arrivals
    private let transcoder: AudioTranscoder?
    private var mailbox: Mailbox<RecordingMessage>?
    private var recovery: Recovery?
    private var live: [Live] = []
    private var timer: TimerWatch?
    /// While the thread is about to end.
    private var stopDeadline: TimerWatch?

    init(
        spool path: String, maximumByteCount: Int, director: any RecordingDirector, metrics: RecordingMetrics,
        thumbnailer: Thumbnailer, latest: LatestThumbnails, transcoding: TranscodingPool?
    ) throws(SystemError) {
        let loop = try EventLoop()
        (self.loop, arrivals) = (loop, Arrivals(loop: loop))
        transcoder = try transcoding.map { pool throws(SystemError) in try AudioTranscoder(loop: loop, pool: pool) }
        spool = try Spool(path: path, maximumByteCount: maximumByteCount)
        (self.director, self.metrics, self.thumbnailer, self.latest) = (director, metrics, thumbnailer, latest)
        metrics.spoolLimit.set(Double(maximumByteCount))
        mailbox = try Mailbox(loop: loop) { [unowned self] in receive($0) }
        recovery = Recovery(
            loop: loop, takeUp: { [unowned self] (folder: String) throws(SpoolError) in try takeUp(folder) },
            then: { [unowned self] in if !recordings.isEmpty { keepLooking() } })
    }

    var sender: MailboxSender<RecordingMessage> {
        mailbox!.sender  // set by init and kept
    }

    func run() {
        recovery?.begin(spool.folders)
        loop.run()
    }

    private func receive(_ message: RecordingMessage) {
        switch message {
        case .began(let publish): begin(publish)
        case .answered(let id, let result): tell(id) { $0.answered(result) }
        case .pictured(let id, let jpeg): tell(id) { $0.pictured(jpeg) }
        case .registerRead(let id, let page): tell(id) { $0.registerRead(page) }
        case .resumption(let id, let page):
            guard let arrived = arrivals.decide(id, page, leave: recordings.leave) else { return }
            begin(arrived.publish, continuing: arrived.former)
        case .stop: stop()
        }
    }

    private func tell(_ id: ObjectIdentifier, _ answer: (Recording) -> Void) {
        recordings.tell(id, answer)
        settle()
    }

    // MARK: - Publishes

    private func begin(_ publish: RecordedPublish) {
        guard let register = director.register, publish.plan.reconnectWindow > .zero else {
            return begin(publish, continuing: [])
        }
        arrivals.add(publish, register, sender)
    }

    /// - Parameter former: what another node has stored of the recording.
    private func begin(_ publish: RecordedPublish, continuing former: [JournalEntry]) {
        // What the participant's publish before this one left in its feed belongs before it.
        look()
        let recording = resumed(publish) ?? started(publish, continuing: former)
        recording?.goOn(inSession: publish.participant.stageSessionID)
        recording?.begin(expectsVideo: publish.plan.media != .audioOnly, tracksShareClock: publish.tracksShareClock)
        live.append(Live(feed: publish.feed, recording: recording))
        keepLooking()
    }

    /// One that goes on; its former connection feeds it no longer.
    private func resumed(_ publish: RecordedPublish) -> Recording? {
        guard let former = recordings.former(of: publish) else { return nil }
        if former.isLive {
            former.pause()
            live = live.map { $0.recording === former ? Live(feed: $0.feed, recording: nil) : $0 }
        }
        return former
    }

    /// One that begins here; nil when the spool cannot take it.
    private func started(_ publish: RecordedPublish, continuing former: [JournalEntry]) -> Recording? {
        let new = recordings.header(of: publish, at: EventLoop.wallNow())
        var (header, former) = (new, former)
        if case .began(let begun)? = former.first {
            // One that is over here, and not stored yet, does not go on, though the register knows of no end.
            if recordings.has(begun) { former = [] } else { header = begun }
        }
        do throws(SpoolError) {
            let recording = try Recording(header, continuing: former, in: environment)
            recordings.add(recording)
            if former.isEmpty { recording.tell(.starting) }
            return recording
        } catch {
            refused(publish, prefix: new.prefix, error)
            return nil
        }
    }

    private func refused(_ publish: RecordedPublish, prefix: String, _ error: SpoolError) {
        metrics.failures.increment()
        let (participant, plan) = (publish.participant, publish.plan)
        Log.event(
            .error, "recording_failed",
            ["participant": .string(participant.participantID), "because": .string("\(error)")])
        director.changed(
            RecordingSummary(
                participant: participant, bucket: plan.bucket, prefix: prefix, state: .failed("\(error)"), hasStarted: false,
                startedAt: nil, endedAt: nil, duration: .zero, byteCount: 0, media: plan.media, thumbnails: plan.thumbnails))
    }

    private var environment: Recording.Environment {
        Recording.Environment(
            spool: spool, director: director, metrics: metrics,
            clocks: { (EventLoop.monotonicNow(), EventLoop.wallNow()) },
            makeAnswer: { [sender] recording in
                let id = ObjectIdentifier(recording)
                return { result in sender.send(.answered(id, result)) }
            },
            makePicture: { [sender, thumbnailer] recording, unit in
                let id = ObjectIdentifier(recording)
                return thumbnailer.make(unit) { jpeg in sender.send(.pictured(id, jpeg)) }
            },
            latest: latest, gaps: gaps,
            askRegister: { [sender, director] recording in
                let (id, header) = (ObjectIdentifier(recording), recording.header)
                director.register?.read(header.participant, prefix: header.prefix) { sender.send(.registerRead(id, $0)) }
            }, transcoder: transcoder)
    }

    // MARK: - What former processes left

    /// Goes on with what a former process left in a folder.
    private func takeUp(_ folder: String) throws(SpoolError) {
        guard let recording = try Recording(recovering: folder, in: environment) else { return spool.remove(folder) }
        recordings.add(recording)
        Log.event(
            .info, "recording_recovered",
            ["participant": .string(recording.header.participant.participantID), "prefix": .string(recording.header.prefix)])
        if !recording.isShared { recording.tell(.stopping) }
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
        recordings.advance(at: now)
        metrics.lag.set(recordings.waitingSince.map { max(0, (now - $0).inSeconds) } ?? 0)
        if live.isEmpty, recordings.isEmpty { timer = nil }
        settle()
    }

    private func settle() {
        metrics.spool.set(Double(spool.byteCount))
        if stopDeadline != nil, recordings.isIdle { loop.stop() }
    }

    // MARK: - The end

    /// What is whole is stored as far as a short time allows; the next start goes on.
    private func stop() {
        look()
        recordings.pause()
        live = []
        arrivals.removeAll()
        stopDeadline = loop.schedule(after: Self.longestStop) { [unowned self] in loop.stop() }
        advance()
    }

    private static let interval = Duration.milliseconds(100)
    /// What is not stored by then lies in the spool for the next start.
    private static let longestStop = Duration.seconds(5)
}
