import Wire

/// How many frames of one publish are transcoded, however fast its encoder sends them and however often it changes their format.
/// Confined to the transcoder's loop.
///
/// A frame of one byte costs the thread as much as a whole one, and all other streams of the thread wait for it.
public final class FrameAllowance {
    private var frames = Allowance(maximum, then: interval)

    /// Nothing was transcoded yet.
    public init() {}

    /// A frame came.
    /// - Returns: false where frames come faster than they can be heard.
    func take(at now: MonotonicTime) -> Bool { frames.take(at: now) }

    /// A stream was opened, whose first frame makes codecs.
    func opened(at now: MonotonicTime) { frames.spend(Self.opening, at: now) }

    /// At once: twenty seconds of Opus in packets of 10 ms, which an encoder may have kept while its uplink stood still, or a
    /// recording while its disk did.
    static let maximum = 2_000
    /// And one more in each: the shortest packets of Opus last for 2.5 ms.
    private static let interval = Duration.milliseconds(2)
    /// As many frames the making of a stream's codecs counts as: it takes milliseconds, and a megabyte.
    static let opening = 50
}
