import Admission
public import EventLoop
public import GatewayMetrics
import MediaContract
import StageHub
public import StageMetrics
public import Wire

/// Looks at every live publish and viewer once a second: for the console, the metrics and CloudWatch's. Confined to its loop.
public final class SessionSampler {
    public static let interval = Duration.seconds(1)

    private struct Followed {
        var reading: CounterReading
        var at: MonotonicTime
        var sample = SessionSample()
        var encoder = EncoderHistory()
    }

    /// The present minute, by CloudWatch's names.
    public private(set) var collector = MetricCollector()
    /// Everybody who watches.
    private let viewers: () -> [ViewerSample]
    /// Takes each minute that is over.
    private let keep: ([MetricSample]) -> Void
    private let board: SessionBoard
    private let received: ReceivedMetrics
    private var followed: [String: Followed] = [:]
    /// What the metrics have.
    private var counted: [IngestProtocol: ReceivedTotals] = [:]
    private var timer: TimerWatch?
    private let wallNow: @Sendable () -> WallTime
    /// Beside the contract's rules, among a session's warnings.
    private static let encoderRule = "encoder"

    public init(
        loop: EventLoop, board: SessionBoard, metrics: MetricsRegistry, viewers: @escaping () -> [ViewerSample] = { [] },
        keep: @escaping ([MetricSample]) -> Void = { _ in },
        wallNow: @escaping @Sendable () -> WallTime = { EventLoop.wallNow() }
    ) {
        (self.board, self.viewers, self.keep, self.wallNow) = (board, viewers, keep, wallNow)
        received = ReceivedMetrics(metrics)
        timer = loop.schedule(after: Self.interval, repeating: Self.interval, tolerance: Self.interval) { [unowned self] in
            look(at: loop.now)
        }
    }

    /// The last second of a live publish; nil before it has been looked at.
    public func sample(of record: SessionRecord) -> SessionSample? { followed[record.id]?.sample }

    /// Brings the metrics of what came in up to date: every second, and before each scrape.
    public func count() {
        let totals = board.received
        for (ingest, now) in totals { received.count(from: counted[ingest] ?? ReceivedTotals(), to: now, of: ingest) }
        counted = totals
    }

    /// Gives away what the minute had so far: nobody samples any more.
    public func stop() {
        timer = nil
        let rest = collector.takeAll()
        if !rest.isEmpty { keep(rest) }
    }

    func look(at now: MonotonicTime) {
        count()
        let (live, wall) = (board.live, wallNow())
        let minute = collector.turn(to: wall)
        if !minute.isEmpty { keep(minute) }
        var next: [String: Followed] = [:]
        next.reserveCapacity(live.count)
        for record in live {
            let reading = CounterReading(record)
            guard var entry = followed[record.id] else {
                next[record.id] = Followed(reading: reading, at: now)
                continue
            }
            if let words = entry.encoder.look(reading.encoder, at: now) {
                record.note(SessionWarning(rule: Self.encoderRule, sentence: words, time: wall))
            }
            entry.sample = reading.sample(since: entry.reading, over: now - entry.at, of: record)
            entry.sample.encoder = entry.encoder.lastMinute
            (entry.reading, entry.at) = (reading, now)
            if record.isPublishing { collector.add(entry.sample, of: record) }
            next[record.id] = entry
        }
        followed = next
        collector.countPublishers(live.filter(\.isPublishing))
        collector.add(viewers(), publishing: Set(live.map(\.lease.participant)))
    }
}

/// What comes in, by protocol and kind. Added up now and then, so that media pays for its own counters only.
private struct ReceivedMetrics {
    private struct Series {
        let bytes: Counter
        let packets: Counter
        let frames: Counter

        init(_ registry: MetricsRegistry, _ labels: MetricLabels) {
            bytes = registry.counter(
                "stagedoor_rx_bytes_total", "Media received: payload of RTP packets, bodies of RTMP messages.", labels)
            packets = registry.counter("stagedoor_rx_packets_total", "RTP packets and RTMP media messages received.", labels)
            frames = registry.counter("stagedoor_rx_frames_total", "Access units and audio frames received.", labels)
        }

        func count(from then: CounterReading.Track, to now: CounterReading.Track) {
            bytes.increment(by: now.bytes - then.bytes)
            packets.increment(by: now.packets - then.packets)
            frames.increment(by: now.frames - then.frames)
        }
    }

    private struct Ingest {
        let video: Series
        let audio: Series
        /// In the order of `ReceivedTotals.encoder`.
        let encoder: [Counter]

        init(_ registry: MetricsRegistry, _ ingest: IngestProtocol) {
            video = Series(registry, ["protocol": ingest.label, "kind": "video"])
            audio = Series(registry, ["protocol": ingest.label, "kind": "audio"])
            encoder = EncoderFigures().counts.map { name, _ in
                registry.counter(
                    "stagedoor_encoder_frames_total",
                    "Frames as encoders count them (Broadcast Performance Metrics), by what became of them.",
                    ["protocol": ingest.label, "state": name])
            }
        }
    }

    private let ingests: [IngestProtocol: Ingest]
    private let lost: Counter
    private let reordered: Counter

    init(_ registry: MetricsRegistry) {
        ingests = [IngestProtocol.rtmp, .rtmps, .whip].reduce(into: [:]) { ingests, ingest in
            ingests[ingest] = Ingest(registry, ingest)
        }
        let labels: MetricLabels = ["protocol": IngestProtocol.whip.label]
        lost = registry.counter(
            "stagedoor_rx_lost_packets_total", "RTP packets that never came, retransmissions counted.", labels)
        reordered = registry.counter("stagedoor_rx_reordered_packets_total", "RTP packets that came after later ones.", labels)
    }

    func count(from then: ReceivedTotals, to now: ReceivedTotals, of ingest: IngestProtocol) {
        guard let series = ingests[ingest] else { return }
        series.video.count(from: then.video, to: now.video)
        series.audio.count(from: then.audio, to: now.audio)
        for (index, counter) in series.encoder.enumerated() { counter.increment(by: now.encoder[index] - then.encoder[index]) }
        lost.increment(by: now.lost - then.lost)
        reordered.increment(by: now.reordered - then.reordered)
    }
}
