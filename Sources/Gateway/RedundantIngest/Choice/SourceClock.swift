import H264
import StageHub
import Wire

/// How one encoder's media time lies to other clocks. All numbers are nanoseconds, of (that clock − media time).
struct SourceClock {
    /// A clock that several encoders may share, as their pictures tell of it.
    enum Told: String, Sendable {
        /// When OBS composed them: two machines' clocks agree by NTP.
        case composed
        case timecode
    }

    /// To ours: the least of (arrival − media time).
    var delay: Int64
    /// By the newest keyframe that told; nil where none did.
    var told: (kind: Told, offset: Int64)?
}

extension SourceClock {
    /// Timestamps that differ by less are of one clock: their ways here have different lengths.
    static let oneClock: Int64 = 250_000_000
    /// A clock that says that one encoder is further behind the other is set wrong, or its pictures too late to go on with.
    static let farthest: Int64 = 1_000_000_000
    private static let day: Int64 = 86_400_000_000_000

    /// What is added to our times of the former source's media to have this one's go on where that was.
    ///
    /// Where both tell of one clock, by that; nothing where their timestamps are of one clock; else by when they come.
    func distance(from former: SourceClock) -> Int64 {
        let byArrival = delay &- former.delay
        if let told, let other = former.told, told.kind == other.kind {
            var byClock = told.offset &- other.offset
            // Timecodes begin anew at midnight: the distance that is nearest to how they come.
            if told.kind == .timecode {
                byClock = byClock &+ ((byArrival &- byClock) / Self.day) * Self.day
                if byArrival &- byClock > Self.day / 2 { byClock = byClock &+ Self.day }
                if byClock &- byArrival > Self.day / 2 { byClock = byClock &- Self.day }
            }
            if (byClock &- byArrival).magnitude <= UInt64(Self.farthest) { return byClock }
        }
        return byArrival.magnitude < UInt64(Self.oneClock) ? 0 : byArrival
    }
}

/// Looks for clocks in one encoder's keyframes. A value.
struct ToldClockReader {
    private(set) var told: (kind: SourceClock.Told, offset: Int64)?
    private var set: SequenceParameterSet?
    private var found = NALUnitList()
    /// The run of a keyframe goes on.
    private var isKeyframe = false

    /// - Parameter block: the next of the encoder's, in order.
    mutating func look(at block: FeedBlock) {
        guard block.run.track.kind == .video else { return }
        isKeyframe = block.run.isKeyframe || isKeyframe
        guard isKeyframe else { return }
        for packet in block.packets {
            unsafe found.find(inPayload: packet.payload)
            for index in unsafe found.units.indices {
                unsafe look(at: found.units[index], mediaTime: block.run.track.nanoseconds(ofTimestamp: packet.timestamp))
            }
        }
        isKeyframe = !block.isLast
    }

    private mutating func look(at unit: UnsafeRawBufferPointer, mediaTime: Int64) {
        switch unsafe NALUnitHeader(unit[0]).type {
        case .sequenceParameterSet: set = try? unsafe SequenceParameterSet(parsing: unit.bytes)
        case .sei:
            switch unsafe PictureClock(inSEI: unit.bytes, of: set) {
            case .composed(let time): told = (.composed, time.nanosecondsSince1970 &- mediaTime)
            case .timecode(let time): told = (.timecode, time.nanoseconds &- mediaTime)
            case nil: break
            }
        default: break
        }
    }
}
