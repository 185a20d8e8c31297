import Wire

/// How many frames of one publish are transcoded, however fast its encoder sends them and however often it changes their format.
/// Confined to the transcoder's loop.
///
/// A frame of one byte costs its thread as much as one of sound, for which it stands, and all streams of the thread wait for it.
public final class FrameAllowance {
    private var frames = Allowance(maximum, then: interval)

    /// Nothing was transcoded yet.
    public init() {}

    /// A frame came.
    /// - Returns: false where more have come than there is sound for.
    func take(at now: MonotonicTime) -> Bool { frames.take(at: now) }

    /// A stream was opened, whose first frame makes codecs.
    func opened(at now: MonotonicTime) { frames.spend(Self.opening, at: now) }

    /// At once: twenty seconds of AAC, which an encoder may have kept while its uplink stood still.
    static let maximum = 1_000
    /// And one more in each: the shortest packets of Opus last for 2.5 ms.
    private static let interval = Duration.milliseconds(2)
    /// What a stream's codecs count as: milliseconds of work, and a megabyte.
    static let opening = 50
}
