import Wire

/// The bitrate rule, a leaky bucket (docs/design.md 8): drains at 1.01 × limit, holds 1.2 s × limit, on media time.
///
/// CBR encoders with a buffer of one or two seconds burst far over their rate for a while (8.0 Mbit/s reach 9.8 over 2 s); a
/// clock 100 ppm fast would fill any bucket that drains at the limit itself. False timestamps buy nothing: once media time has
/// run 5 s ahead of the clock, the clock counts.
///
/// Layers fill one bucket, and each has a media clock of its own, which may begin anywhere: the one furthest ahead drains it.
struct BitrateBucket {
    /// Bits a second.
    var limit: Int { didSet { (drain, depth) = Self.rates(limit) } }
    /// Bits in the bucket.
    private(set) var level: Double = 0

    private var drain: Double
    private var depth: Double
    /// Media time of a layer.
    private struct Clock {
        /// In ticks; nil before the layer's first packet.
        var latest: Int64?
        /// Where that stands in `mediaElapsed`.
        var elapsed: Double = 0
    }

    private var clocks = ByLayer<Clock>(repeating: Clock())
    /// Media time in seconds since the first packet, jumps left out.
    private var mediaElapsed: Double = 0
    /// What `mediaElapsed` was when the bucket last drained.
    private var drainedUpTo: Double = 0
    private var firstArrival = MonotonicTime.zero
    /// Bits since the first packet.
    private var bits: Double = 0
    /// When the bucket was last empty, and how many had come by then: for the rate to tell.
    private var empty: (bits: Double, at: Double) = (0, 0)
    /// For the rate to show: over windows of five seconds; nil before the first one is full.
    private(set) var latestRate: Int?
    private var window: (bits: Double, start: Double) = (0, 0)

    static let ticksPerSecond = 90_000.0
    static let drainFactor = 1.01
    static let depthSeconds = 1.2
    static let windowSeconds = 5.0
    /// How far media time may run ahead of the clock.
    static let maximumLead = 5.0
    /// How much faster than ours an encoder's clock may be: 500 ppm.
    static let maximumClockRate = 1.0005
    /// Steps back beyond this are jumps, and so are steps forward beyond `maximumLead` that land ahead of the clock.
    static let maximumStepBack = 0.5
    /// A layer that paused goes on no further behind the others than this, whatever its clock did meanwhile.
    static let maximumLag = 0.5

    init(limit: Int) {
        self.limit = limit
        (drain, depth) = Self.rates(limit)
    }

    private static func rates(_ limit: Int) -> (Double, Double) {
        (Double(limit) * drainFactor, Double(limit) * depthSeconds)
    }

    /// Adds NAL unit bytes of the layer at that place; true when the bucket runs over.
    mutating func add(byteCount: Int, of layer: UInt8 = 0, _ moment: MediaMoment) -> Bool {
        let lead = lead(at: moment.arrival)
        if moment.mediaTime != clocks[Int(layer)].latest { advance(Int(layer), to: moment, lead) }
        let elapsed = min(mediaElapsed, lead)
        if elapsed > drainedUpTo {
            level -= (elapsed - drainedUpTo) * drain
            drainedUpTo = elapsed
        }
        if level <= 0 { (level, empty) = (0, (bits, drainedUpTo)) }
        level += Double(byteCount * 8)
        bits += Double(byteCount * 8)
        return level > depth
    }

    /// Bits a second since the bucket was last empty.
    var measuredRate: Int { Int((bits - empty.bits) / max(1, drainedUpTo - empty.at)) }

    /// Takes up a new `latestRate` when a window is full. Called a few times a second.
    mutating func measure() {
        let elapsed = drainedUpTo - window.start
        guard elapsed >= Self.windowSeconds else { return }
        latestRate = Int((bits - window.bits) / elapsed)
        window = (bits, drainedUpTo)
    }

    /// The latest media time, in seconds, that the clock allows.
    private func lead(at arrival: MonotonicTime) -> Double {
        Double(arrival.nanoseconds - firstArrival.nanoseconds) * 1e-9 * Self.maximumClockRate + Self.maximumLead
    }

    private mutating func advance(_ layer: Int, to moment: MediaMoment, _ lead: Double) {
        let mediaTime = moment.mediaTime
        guard let latest = clocks[layer].latest else {
            if bits == 0 { firstArrival = moment.arrival }
            // A layer that joins begins where the others are.
            return clocks[layer] = Clock(latest: mediaTime, elapsed: mediaElapsed)
        }
        let step = Double(mediaTime &- latest) / Self.ticksPerSecond
        if step > 0 {
            let elapsed = clocks[layer].elapsed
            let isJump = step > Self.maximumLead && elapsed + step > lead
            clocks[layer] = Clock(
                latest: mediaTime, elapsed: max(isJump ? elapsed : elapsed + step, mediaElapsed - Self.maximumLag))
            mediaElapsed = max(mediaElapsed, clocks[layer].elapsed)
        } else if step < -Self.maximumStepBack {
            clocks[layer].latest = mediaTime
        }
    }
}
