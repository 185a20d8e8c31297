import StageHub
import Wire

/// The last two seconds of one encoder's media, and how late it is, as the choice between two sees them. A value without clock.
///
/// Pictures decide where there are any, sound where there are none.
struct SourceHealth {
    enum Level: Int, Comparable {
        /// Nothing has come for half a second.
        case still
        /// It comes too late or too slowly, pictures or sound are missing, or it came too lately to be known.
        case poor
        case well

        static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    private struct Track {
        var newest: Int64
        var advancedAt: MonotonicTime
        /// From one frame to the next, the last ones most. Nanoseconds.
        var interval: Int64 = 0
        /// Of (arrival − media time).
        var delays = LowerEnvelope()

        /// How much later the newest came than what was fastest within the last minute. Nanoseconds.
        var lag: Int64 { delays.minimum.map { advancedAt.nanoseconds &- newest &- $0 } ?? 0 }

        /// - Returns: whether frames are missing before this one.
        mutating func advance(to mediaTime: Int64, at now: MonotonicTime) -> Bool {
            let step = mediaTime &- newest
            // Disorder is no advance; a clock that begins anew is.
            guard step > 0 || step < -SourceHealth.window.nanoseconds else { return false }
            let isMissing = interval > 0 && step > max(SourceHealth.missingIntervals * interval, SourceHealth.leastMissing)
            if step > 0, !isMissing { interval = interval == 0 ? step : (7 * interval + step) / 8 }
            if step < 0 { delays = LowerEnvelope() }
            (newest, advancedAt) = (mediaTime, now)
            delays.observe(now.nanoseconds &- mediaTime, at: now)
            return isMissing
        }
    }

    private struct Mark {
        var arrival: MonotonicTime
        var mediaTime: Int64
    }

    private var video: Track?
    private var audio: Track?
    /// Of the track that decides, oldest first.
    private var marks: [Mark] = []
    private var missedAt: MonotonicTime?

    static let window = Duration.seconds(2)
    /// Media that stands still for so long is left.
    static let patience = Duration.milliseconds(500)
    /// Sound comes in batches from the transcoder, and every 400 ms from an encoder that is silent by DTX.
    static let soundPatience = Duration.seconds(1)
    /// A way that is a little too narrow makes media later and later, at nearly its rate.
    private static let longestLag = Duration.seconds(1)
    /// Less than that is not judged by its rate.
    private static let knownAfter = Duration.seconds(1)
    private static let markInterval = Duration.milliseconds(250)
    /// Pictures that are this many intervals apart, and a quarter of a second, have others missing between them.
    fileprivate static let missingIntervals: Int64 = 4
    fileprivate static let leastMissing: Int64 = 250_000_000

    init() { marks.reserveCapacity(16) }

    /// Whether it brings pictures.
    var hasVideo: Bool { video != nil }

    /// Of pictures that follow each other; nil before it is known.
    var framesPerSecond: Double? {
        guard let interval = video?.interval, interval > 0 else { return nil }
        return 1e9 / Double(interval)
    }

    /// - Parameter mediaTime: nanoseconds on the encoder's own clock.
    mutating func arrived(_ kind: MediaKind, _ mediaTime: Int64, at now: MonotonicTime) {
        let first = Track(newest: mediaTime, advancedAt: now)
        switch kind {
        case .video:
            if video == nil { marks.removeAll(keepingCapacity: true) }
            let isMissing = video?.advance(to: mediaTime, at: now) ?? false
            if isMissing { missedAt = now }
            if video == nil { video = first }
        case .audio:
            _ = audio?.advance(to: mediaTime, at: now)
            if audio == nil { audio = first }
        }
        if kind == .video || video == nil { mark(mediaTime, at: now) }
    }

    func level(at now: MonotonicTime) -> Level {
        guard let lead = video ?? audio else { return .still }
        let ownPatience = max(Self.patience, .nanoseconds(3 * lead.interval))
        if now - lead.advancedAt >= ownPatience { return .still }
        if let audio, now - audio.advancedAt >= Self.soundPatience { return .poor }
        if let missedAt, now - missedAt < Self.window { return .poor }
        if lead.lag > Self.longestLag.nanoseconds { return .poor }
        return keepsItsRate(lead) ? .well : .poor
    }

    private mutating func mark(_ mediaTime: Int64, at now: MonotonicTime) {
        if let last = marks.last, now - last.arrival < Self.markInterval { return }
        marks.append(Mark(arrival: now, mediaTime: mediaTime))
        while let first = marks.first, now - first.arrival > Self.window { marks.removeFirst() }
    }

    private func keepsItsRate(_ lead: Track) -> Bool {
        guard let oldest = marks.first else { return false }
        let passed = lead.advancedAt - oldest.arrival
        // Divided and not multiplied: a hostile clock may have run for centuries, whose multiple does not fit.
        return passed >= Self.knownAfter && (lead.newest &- oldest.mediaTime) / 3 >= passed.nanoseconds / 4
    }
}
