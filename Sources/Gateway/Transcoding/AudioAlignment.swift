/// Keeps decoded audio at the media time that its stamps claim (docs/design.md 5.4): pure arithmetic, no clock.
///
/// Audio is counted in samples; the stamps of RTMP are rounded to milliseconds, jitter, and follow another clock than the
/// sound card. A lasting error over 10 ms is worked off by stretching or squeezing at most 0.2 %, one over 100 ms at once.
struct AudioAlignment {
    enum Action: Equatable {
        /// Encode the frame, with so many samples at 48 kHz more (or, negative, fewer) than it has.
        case encode(correction: Int)
        /// Media time moved on by this many ticks without audio: close what was begun, go on after the gap, encode the frame.
        case gap(ticks: Int64)
        /// The frame lies before what was already encoded.
        case drop
        /// The stamps went back beyond what dropping can bridge: start anew at this frame's stamp.
        case restart
    }

    /// Ticks are samples at 48 kHz.
    static let ticksPerSecond: Int64 = 48_000
    /// Errors up to here are the stamps' own rounding and jitter.
    static let tolerance = ticksPerSecond / 100
    /// Errors beyond here are gaps, not drift.
    static let maximumDrift = ticksPerSecond / 10
    /// Stamps further back than this are a new beginning.
    static let maximumDrop = 2 * ticksPerSecond
    /// Samples that make one sample of correction: 0.2 %.
    static let samplesPerCorrection: Int64 = 500

    private let sampleRate: Int64
    /// Where media time stood at sample 0; nil before the first frame.
    private var anchor: Int64?
    private var sampleCount: Int64 = 0
    /// Ticks added by corrections and gaps.
    private var adjustment: Int64 = 0
    /// The error, averaged over about a second and a half, in 1/64 ticks.
    private var averageError: Int64 = 0
    /// Ticks still to be worked off by the correction under way.
    private var pendingCorrection: Int64 = 0
    /// Samples that may not yet be used for a correction: keeps the rate at 0.2 % over blocks of any size.
    private var correctionCredit: Int64 = 0
    private var isDropping = false

    init(sampleRate: Int) { self.sampleRate = Int64(sampleRate) }

    /// Media time of the sample after the last one counted; nil before the first frame.
    var position: Int64? {
        anchor.map { $0 + sampleCount * Self.ticksPerSecond / sampleRate + adjustment }
    }

    /// A frame was decoded.
    /// - Parameters:
    ///   - stamp: its media time in ticks of 48 kHz.
    ///   - samples: how many it has, at the source's rate.
    mutating func frameDecoded(stamp: Int64, samples: Int) -> Action {
        guard let position else { return begin(at: stamp, samples: samples) }
        let error = stamp - position
        if error < -Self.maximumDrop {
            _ = begin(at: stamp, samples: samples)
            return .restart
        }
        if error < (isDropping ? -Self.tolerance : -Self.maximumDrift) {
            isDropping = true
            return .drop
        }
        isDropping = false
        if error > Self.maximumDrift {
            adjustment += error
            forgetDrift()
            sampleCount += Int64(samples)
            return .gap(ticks: error)
        }
        averageError += (error * 64 - averageError) / 64
        sampleCount += Int64(samples)
        return .encode(correction: correction(forTicks: Int64(samples) * Self.ticksPerSecond / sampleRate))
    }

    private mutating func begin(at stamp: Int64, samples: Int) -> Action {
        (anchor, sampleCount, adjustment) = (stamp, Int64(samples), 0)
        forgetDrift()
        return .encode(correction: 0)
    }

    private mutating func forgetDrift() {
        (averageError, pendingCorrection, correctionCredit, isDropping) = (0, 0, 0, false)
    }

    /// How many samples to add to the block at hand.
    private mutating func correction(forTicks ticks: Int64) -> Int {
        if pendingCorrection == 0, abs(averageError / 64) > Self.tolerance { pendingCorrection = averageError / 64 }
        guard pendingCorrection != 0 else {
            correctionCredit = 0
            return 0
        }
        correctionCredit += ticks
        let allowed = correctionCredit / Self.samplesPerCorrection
        let step = pendingCorrection > 0 ? min(allowed, pendingCorrection) : max(-allowed, pendingCorrection)
        correctionCredit -= abs(step) * Self.samplesPerCorrection
        pendingCorrection -= step
        adjustment += step
        averageError -= step * 64
        return Int(step)
    }
}
