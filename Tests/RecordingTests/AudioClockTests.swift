import Testing

@testable import Recording

@Suite("AudioClock")
struct AudioClockTests {
    private func times(_ stamps: [Int64], duration: Int64 = 960) -> [Int64?] {
        place(stamps.map { Self.sample(at: $0, ownTimestamp: $0, duration: duration) })
    }

    private static func sample(at timestamp: Int64, ownTimestamp: Int64, duration: Int64) -> PendingMedia.Audio {
        PendingMedia.Audio(
            timestamp: timestamp, frame: AudioFrame(ownTimestamp: ownTimestamp, duration: duration, bytes: []))
    }

    private func place(_ frames: [PendingMedia.Audio]) -> [Int64?] {
        var clock = AudioClock(timescale: 48_000)
        return frames.indices.map { clock.place(frames[$0], followedBy: frames[($0 + 1)...]) }
    }

    @Test
    func `frames follow one another whatever their stamps were rounded to`() {
        let placed = times((0..<500).map { $0 * 1_024 / 48 * 48 }, duration: 1_024)
        #expect(placed == (0..<500).map { Int64($0 * 1_024) })
    }

    @Test
    func `a clock that drifts is followed within 15 ms, without gaps`() {
        // 100 ppm for half an hour.
        let stamps = (0..<90_000).map { Int64(Double($0) * 960 * 1.000_1) }
        let placed = times(stamps).compactMap { $0 }
        #expect(placed.count == stamps.count)
        #expect(zip(placed, stamps).allSatisfy { abs($0 - $1) < 720 })
        #expect(zip(placed, placed.dropFirst()).allSatisfy { abs($1 - $0 - 960) <= 1 })
    }

    @Test
    func `missing frames are a gap, and frames for which there is no time are left out`() {
        #expect(times([0, 960, 9_600, 10_560]) == [0, 960, 9_600, 10_560])
        #expect(times([48_000, 48_960, 0, 960, 49_920]) == [48_000, 48_960, nil, nil, 49_920])
    }

    @Test
    func `where stamps step back frames are left out until sound and stamps agree`() {
        let stamps = (0..<200).map { Int64($0 * 960 - ($0 < 100 ? 0 : 14_400)) }
        let placed = times(stamps)
        #expect(placed.count { $0 == nil } == 15)
        #expect(zip(placed, stamps).allSatisfy { time, stamp in time.map { abs($0 - stamp) <= 480 } ?? true })
    }

    /// Phones stamp sound when it comes: those that are latest would else make a gap each, twice a second.
    @Test
    func `stamps up to 10 ms early or late make no gaps`() {
        let stamps = (0..<1_000).map { (index: Int64) in index * 1_024 + (index * 37 % 21 - 10) * 48 }
        let placed = times(stamps, duration: 1_024).compactMap { $0 }
        #expect(placed.count == 1_000)
        // The first one, which the others go by, may be early.
        #expect(zip(placed, placed.dropFirst()).count { abs($1 - $0 - 1_024) > 1 } <= 1)
        #expect(placed.indices.allSatisfy { abs(placed[$0] - Int64($0 * 1_024)) <= 480 })
    }

    /// Readings move both tracks' clocks against each other, by a whole encoding delay in the first seconds.
    @Test
    func `a step of what the clocks show of each other is no gap`() {
        let stamps = (0..<1_000).map { (index: Int64) in index * 1_024 + (index < 50 ? 0 : 960) }
        let placed = place(
            stamps.enumerated().map { index, stamp in
                Self.sample(at: stamp, ownTimestamp: Int64(index) * 1_024, duration: 1_024)
            }
        ).compactMap { $0 }
        #expect(zip(placed, placed.dropFirst()).allSatisfy { abs($1 - $0 - 1_024) <= 1 })
        #expect(abs(placed[999] - stamps[999]) <= 480)
    }

    /// As GStreamer's muxer stamped them on a busy machine, in milliseconds.
    @Test
    func `sound that is stamped late for a while stays where it was`() {
        var stamps = (0..<200).map { Int64($0 * 1_024) }
        for (index, late) in [52, 31, 109, 88, 100, 78, 57, 36, 14].enumerated() { stamps[100 + index] += Int64(late * 48) }
        let placed = times(stamps, duration: 1_024).compactMap { $0 }
        #expect(placed.count == 200 && placed.indices.allSatisfy { abs(placed[$0] - Int64($0 * 1_024)) < 48 })
    }

    /// Loss that comes again and again may not add up.
    @Test
    func `one missing frame is a gap of its own, of stamps in whole milliseconds too`() {
        let kept = (0..<500).filter { $0 % 7 != 3 }.map(Int64.init)
        #expect(times(kept.map { $0 * 960 }) == kept.map { $0 * 960 })
        let placed = times(kept.map { $0 * 1_024 / 48 * 48 }, duration: 1_024).compactMap { $0 }
        #expect(zip(placed, kept).allSatisfy { abs($0 - $1 * 1_024) < 48 + 480 })
    }
}
