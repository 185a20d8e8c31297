import EventLoop
import GatewayLogging
import GatewayMetrics
import StageHub
import Thumbnails
import Transcoding
import Wire

/// What the writer's thread is told.
enum RecordingMessage: Sendable {
    case began(RecordedParticipant, RecordingPlan, RecordingFeed, tracksShareClock: Bool)
    case answered(ObjectIdentifier, Result<Void, RecordingTargetError>)
    /// Of a recording that another node may have by now.
    case registerRead(ObjectIdentifier, Result<RegisterPage?, any Error>)
    /// For a publish whose participant another node may have recorded.
    case succession(of: ObjectIdentifier, Result<RegisterPage?, any Error>)
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

    /// A publish that begins, and may go on with what another node has recorded: its feed fills until that is known.
    private struct Arrival {
        let succession: Succession
        let feed: RecordingFeed
        let tracksShareClock: Bool
        let since: MonotonicTime
        /// What the register said when this node wrote that it takes the recording over.
        var taken: [JournalEntry]?
        /// Until the register is asked again.
        var pause: TimerWatch?
    }

    private let loop: EventLoop
    private let spool: Spool
    private let director: any RecordingDirector
    private let metrics: RecordingMetrics
    private let thumbnailer: Thumbnailer
    private let latest: LatestThumbnails
    private let gaps = GapNotice()
    private let transcoder: AudioTranscoder?
    private var mailbox: Mailbox<RecordingMessage>?
    private var live: [Live] = []
    private var arrivals: [ObjectIdentifier: Arrival] = [:]
    private var recordings: [ObjectIdentifier: Recording] = [:]
    /// What a process before us has still.
    private var foreignFolders: [String] = []
    private var timer: TimerWatch?
    private var foreignTimer: TimerWatch?
    /// While the thread is about to end.
    private var stopDeadline: TimerWatch?

    init(
        spool path: String, maximumByteCount: Int, director: any RecordingDirector, metrics: RecordingMetrics,
        thumbnailer: Thumbnailer, latest: LatestThumbnails, transcoding: TranscodingPool?
    ) throws {
        let loop = try EventLoop()
        self.loop = loop
        transcoder = try transcoding.map { try AudioTranscoder(loop: loop, pool: $0) }
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
            advance(id)
        case .pictured(let id, let jpeg):
            recordings[id]?.pictured(jpeg)
            advance(id)
        case .registerRead(let id, let page):
            recordings[id]?.registerRead(page)
            advance(id)
        case .succession(let id, let page): decide(id, page)
        case .stop: stop()
        }
    }

    // MARK: - Publishes

    private func begin(
        _ participant: RecordedParticipant, _ plan: RecordingPlan, _ feed: RecordingFeed, tracksShareClock: Bool
    ) {
        // What the participant's publish before this one left in its feed belongs before it.
        look()
        guard let register = director.register, plan.reconnectWindow > .zero else {
            let recording = resumed(participant, plan) ?? started(participant, plan)
            return begin(recording, plan, feed, tracksShareClock: tracksShareClock)
        }
        let succession = Succession(participant: participant, plan: plan, node: register.node)
        let id = ObjectIdentifier(feed)
        arrivals[id] = Arrival(
            succession: succession, feed: feed, tracksShareClock: tracksShareClock, since: EventLoop.monotonicNow())
        ask(register, for: id)
    }

    private func begin(_ recording: Recording?, _ plan: RecordingPlan, _ feed: RecordingFeed, tracksShareClock: Bool) {
        recording?.begin(expectsVideo: plan.media != .audioOnly, tracksShareClock: tracksShareClock)
        live.append(Live(feed: feed, recording: recording))
        keepLooking()
    }

    // MARK: - What another node has recorded

    private func ask(_ register: any RecordingRegister, for id: ObjectIdentifier) {
        guard let arrival = arrivals[id] else { return }
        register.read(arrival.succession.participant, prefix: nil) { [sender] in sender?.send(.succession(of: id, $0)) }
    }

    private func decide(_ id: ObjectIdentifier, _ page: Result<RegisterPage?, any Error>) {
        guard let arrival = arrivals[id], let register = director.register else { return }
        let waited = EventLoop.monotonicNow() - arrival.since
        let page = try? page.get()
        switch arrival.succession.step(page, taken: arrival.taken, waited: waited, now: EventLoop.wallNow()) {
        case .beginAnew: return arrived(id, [])
        case .goOn(let entries): return arrived(id, entries)
        case .takeOver:
            arrivals[id]?.taken = page?.entries
            if case .began(let header)? = page?.entries.first { takeOver(header, register) }
        case .askAgain: break
        }
        arrivals[id]?.pause = loop.schedule(after: Self.interval) { [unowned self] in ask(register, for: id) }
    }

    private func takeOver(_ header: RecordingHeader, _ register: any RecordingRegister) {
        // The other node may have had it from this one.
        for recording in recordings.values where recording.header.prefix == header.prefix { recording.leave() }
        register.write(RegisterLine(.takesOver, of: header, [.takenOver]))
    }

    private func arrived(_ id: ObjectIdentifier, _ former: [JournalEntry]) {
        guard let arrival = arrivals.removeValue(forKey: id) else { return }
        let (participant, plan) = (arrival.succession.participant, arrival.succession.plan)
        let recording = resumed(participant, plan) ?? started(participant, plan, continuing: former)
        begin(recording, plan, arrival.feed, tracksShareClock: arrival.tracksShareClock)
    }

    /// The participant's recording that waits for it, or that its former connection still feeds.
    private func resumed(_ participant: RecordedParticipant, _ plan: RecordingPlan) -> Recording? {
        let now = EventLoop.wallNow()
        let former = recordings.values.first { recording in
            recording.header.fits(participant, plan) && recording.book.failure == nil && !recording.isOver(at: now)
                && !recording.isElsewhere
        }
        guard let former else { return nil }
        if former.isLive {
            former.pause()
            live = live.map { $0.recording === former ? Live(feed: $0.feed, recording: nil) : $0 }
        }
        return former
    }

    /// - Parameter former: what another node has stored of the recording.
    private func started(
        _ participant: RecordedParticipant, _ plan: RecordingPlan, continuing former: [JournalEntry] = []
    ) -> Recording? {
        let now = EventLoop.wallNow()
        let prefix = "\(participant.stageID)/\(participant.stageSessionID)/\(participant.participantID)/\(now.pathText)"
        var header = RecordingHeader(
            participant: participant, bucket: plan.bucket, prefix: prefix, segmentDuration: plan.segmentDuration,
            reconnectWindowSeconds: Int(plan.reconnectWindow.inSeconds), began: now, media: plan.media,
            thumbnails: plan.thumbnails)
        if case .began(let begun)? = former.first { header = begun }
        do throws(SpoolError) {
            let recording = try Recording(header, continuing: former, in: environment)
            recordings[ObjectIdentifier(recording)] = recording
            if former.isEmpty { recording.tell(.starting) }
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
            latest: latest, gaps: gaps,
            askRegister: { [sender, director] recording in
                let (id, header) = (ObjectIdentifier(recording), recording.header)
                director.register?.read(header.participant, prefix: header.prefix) { sender?.send(.registerRead(id, $0)) }
            }, transcoder: transcoder)
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
        settle()
    }

    private func advance(_ id: ObjectIdentifier) {
        if recordings[id]?.advance(at: EventLoop.wallNow()) == true { recordings[id] = nil }
        settle()
    }

    private func settle() {
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
            if !recording.isShared { recording.tell(.stopping) }
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
        (live, arrivals) = ([], [:])
        stopDeadline = loop.schedule(after: Self.longestStop) { [unowned self] in loop.stop() }
        advance()
    }

    private static let interval = Duration.milliseconds(100)
    private static let foreignInterval = Duration.seconds(2)
    private static let longestStop = Duration.seconds(5)
}
