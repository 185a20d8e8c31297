public import EventLoop
import Synchronization
public import Wire

/// When each event loop last turned. Loops beat on their threads; `/livez` looks from another.
public final class Heartbeats: Sendable {
    /// How often loops beat, and the age at which one counts as stuck.
    static let interval = Duration.seconds(1)
    public static let maximumAge = Duration.seconds(2)

    private final class Beat: Sendable {
        let name: String
        let nanoseconds: Atomic<Int64>

        init(name: String, at now: MonotonicTime) {
            self.name = name
            nanoseconds = Atomic(now.nanoseconds)
        }
    }

    private let beats = Lock<[Beat]>([])

    public init() {}

    /// Beats for the loop as long as the watch is kept. Call it on the loop's thread.
    public func join(_ loop: EventLoop, name: String) -> Watch {
        let beat = Beat(name: name, at: EventLoop.monotonicNow())
        beats.withLock { $0.append(beat) }
        return loop.schedule(after: Self.interval, repeating: Self.interval, tolerance: Self.interval) { [unowned loop] in
            beat.nanoseconds.store(loop.now.nanoseconds, ordering: .relaxed)
        }
    }

    /// All loops that have joined.
    public var names: [String] { beats.withLock { $0 }.map(\.name) }

    /// The loops that have not turned for `maximumAge`.
    public func stuck(at now: MonotonicTime = EventLoop.monotonicNow()) -> [String] {
        beats.withLock { $0 }.filter {
            now - MonotonicTime(nanoseconds: $0.nanoseconds.load(ordering: .relaxed)) > Self.maximumAge
        }.map(\.name)
    }
}
