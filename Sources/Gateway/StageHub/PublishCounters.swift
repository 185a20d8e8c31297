public import Synchronization
import Wire

/// What one publish has brought so far. Its worker writes while media passes, the control loop reads once a second.
public final class PublishCounters: Sendable {
    /// Simulcast layers that are told apart; further ones count with the last.
    @inlinable public static var maximumLayerCount: Int { ByLayer<Int>.count }

    /// By layer; without simulcast only the first is in use.
    public let video = (0..<maximumLayerCount).map { _ in TrackCounters() }
    /// Of the one track that goes on.
    public let audio = TrackCounters()
    /// RTP packets that never came.
    public let lost = WorkerCount()
    /// RTP packets that a retransmission brought.
    public let recovered = WorkerCount()
    /// RTP packets that came after a later one, unasked.
    public let reordered = WorkerCount()
    private let roundTripMicroseconds = Atomic<Int64>(-1)

    public init() {}

    /// The counters of a track.
    @inlinable
    public subscript(_ track: TrackID) -> TrackCounters {
        track.kind == .audio ? audio : video[min(Int(track.layer), Self.maximumLayerCount - 1)]
    }

    /// Smoothed time to the encoder and back; nil until it was measured.
    public var roundTrip: Duration? {
        let microseconds = roundTripMicroseconds.load(ordering: .relaxed)
        return microseconds < 0 ? nil : .microseconds(microseconds)
    }

    /// A new smoothed time; of it whole microseconds are kept.
    public func measured(roundTrip: Duration) {
        roundTripMicroseconds.store(roundTrip.nanoseconds / 1_000, ordering: .relaxed)
    }
}

/// One element for each layer that is told apart, by the layer's place: three.
public typealias ByLayer<Element> = InlineArray<3, Element>

/// One track's or simulcast layer's share.
public final class TrackCounters: Sendable {
    /// Payload of RTP packets, bodies of RTMP messages.
    public let bytes = WorkerCount()
    /// RTP packets or RTMP messages.
    public let packets = WorkerCount()
    /// Access units or audio frames.
    public let frames = WorkerCount()
    private let size = Atomic<UInt64>(0)

    /// Counts one packet or message.
    @inlinable
    public func count(byteCount: Int, endsFrame: Bool) {
        bytes.add(byteCount)
        packets.add(1)
        if endsFrame { frames.add(1) }
    }

    /// Width and height by the parameter sets; nil before they came, and for audio.
    public var pictureSize: (width: Int, height: Int)? {
        let size = size.load(ordering: .relaxed)
        return size == 0 ? nil : (Int(size >> 32), Int(size & 0xFFFF_FFFF))
    }

    /// By new parameter sets, in pixels after cropping.
    public func setPictureSize(width: Int, height: Int) {
        size.store(UInt64(width) << 32 | UInt64(height), ordering: .relaxed)
    }
}

/// A number that one thread counts up and others read: no locked instruction on the way of the media.
///
/// It lies in its owner: a track's three are one line of the cache, and every message touches them.
public struct WorkerCount: ~Copyable, Sendable {
    @usableFromInline let number = Atomic<Int>(0)

    public init() {}

    @inlinable public var value: Int { number.load(ordering: .relaxed) }

    /// For the one thread that counts.
    @inlinable
    public func add(_ amount: Int) { number.store(number.load(ordering: .relaxed) &+ amount, ordering: .relaxed) }
}
