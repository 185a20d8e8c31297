import Wire

/// A publication's layers: which there are, how good each is, and which of them flow (docs/design.md 5.6). A value without clock.
///
/// A layer counts from its first parameter sets on. Its rank comes from the size of its pictures, then from its measured bitrate.
/// One that is silent for a second, or for three of its frames' time, is paused; one without others never is:
/// its publication is muted then.
struct LayerLadder {
    private struct Rung {
        var layer: VideoLayer
        var lastArrival: MonotonicTime
        var byteCount = 0
        var frameCount = 0
        /// In a row in which something of it was measured.
        var secondsHeard = 0

        /// How long it may be silent.
        var patience: Duration {
            guard layer.framesPerSecond > 0 else { return LayerLadder.silence }
            return max(LayerLadder.silence, .seconds(3) / layer.framesPerSecond)
        }

        /// Takes what came since the last call.
        /// - Parameter elapsed: seconds; 0 at the first call, of which nothing can be told.
        mutating func measure(_ counted: TrackCounters, over elapsed: Double) {
            let (bytes, frames) = (counted.bytes.value, counted.frames.value)
            if elapsed > 0 {
                note(bitsPerSecond: Int(Double((bytes - byteCount) * 8) / elapsed))
                let rate = Int((Double(frames - frameCount) / elapsed).rounded())
                // Where frames are a second apart, one without any tells nothing; until its silence does, the last one counts.
                if rate > 0 || !layer.isActive { layer.framesPerSecond = rate }
            }
            (byteCount, frameCount) = (bytes, frames)
        }

        /// Seconds with a keyframe have many more bits than those without: three quarters of what was stay. The first one counts
        /// only until the next, since the layer began somewhere in it.
        private mutating func note(bitsPerSecond measured: Int) {
            secondsHeard = measured == 0 ? 0 : secondsHeard + 1
            layer.bitsPerSecond = secondsHeard <= 2 ? measured : (3 * layer.bitsPerSecond + measured) / 4
        }

        /// - Returns: whether it was paused just now, or goes on.
        mutating func noteActivity(at now: MonotonicTime) -> Bool {
            let wasActive = layer.isActive
            layer.isActive = now - lastArrival <= patience
            return layer.isActive != wasActive
        }
    }

    /// Best first.
    private var rungs: [Rung] = []
    private var measuredAt: MonotonicTime?
    /// Those that sinks were told of last.
    private var told: [VideoLayer] = []

    var layers: [VideoLayer] { rungs.map(\.layer) }
    var isLayered: Bool { rungs.count > 1 }

    /// The size of a layer's pictures is known, or has changed.
    mutating func sized(_ track: TrackID, rid: String, width: Int, height: Int, at now: MonotonicTime) {
        if let index = index(of: track) {
            (rungs[index].layer.rid, rungs[index].layer.width, rungs[index].layer.height) = (rid, width, height)
        } else {
            let layer = VideoLayer(
                track: track, name: .noRID, rid: rid, width: width, height: height, framesPerSecond: 0, bitsPerSecond: 0,
                isActive: true)
            // While it was alone nobody noted when it came.
            if rungs.count == 1 { rungs[0].lastArrival = now }
            rungs.append(Rung(layer: layer, lastArrival: now))
        }
        rank()
    }

    /// Media of a layer came.
    /// - Returns: whether a layer that was paused goes on, or another one has fallen silent.
    mutating func heard(_ track: TrackID, at now: MonotonicTime) -> Bool {
        if rungs.allSatisfy({ now - $0.lastArrival > $0.patience }) { wakeTogether(at: now) }
        var hasChanged = false
        for index in rungs.indices {
            if rungs[index].layer.track == track { rungs[index].lastArrival = now }
            if rungs[index].noteActivity(at: now) { hasChanged = true }
        }
        return hasChanged
    }

    /// All were silent, as after an outage: those that flowed until it go on together, and each has its time to be heard again.
    private mutating func wakeTogether(at now: MonotonicTime) {
        let last = rungs.reduce(MonotonicTime.zero) { max($0, $1.lastArrival) }
        for index in rungs.indices where last - rungs[index].lastArrival <= rungs[index].patience {
            rungs[index].lastArrival = now
        }
    }

    /// Takes the rates since the last call, which was about a second ago.
    mutating func measure(_ counters: PublishCounters, at now: MonotonicTime) {
        let elapsed = measuredAt.map { (now - $0).inSeconds } ?? 0
        measuredAt = now
        for index in rungs.indices {
            rungs[index].measure(counters[rungs[index].layer.track], over: elapsed)
            if isLayered { _ = rungs[index].noteActivity(at: now) }
        }
        rank()
    }

    /// Whether sinks have something to learn since they were told: they are told now.
    mutating func takeNews() -> Bool {
        let layers = layers
        guard layers.count != told.count || zip(layers, told).contains(where: { $0.differsNotably(from: $1) }) else {
            return false
        }
        told = layers
        return true
    }

    /// By insertion: layers that nearly tie stay as they are.
    private mutating func rank() {
        for index in rungs.indices.dropFirst() {
            var place = index
            while place > 0, rungs[place].layer.isBetter(than: rungs[place - 1].layer, by: Self.clearlyMore) {
                rungs.swapAt(place, place - 1)
                place -= 1
            }
        }
        for index in rungs.indices { rungs[index].layer.name = LayerName(rank: index, of: rungs.count) }
    }

    private func index(of track: TrackID) -> Int? { rungs.firstIndex { $0.layer.track == track } }

    static let silence = Duration.seconds(1)
    /// Of two layers of one size the other one becomes the better by this much more.
    private static let clearlyMore = 1.2
}

extension VideoLayer {
    fileprivate func isBetter(than other: VideoLayer, by factor: Double) -> Bool {
        guard pixelCount == other.pixelCount else { return pixelCount > other.pixelCount }
        // One that is paused has no rate to be judged by.
        guard isActive, other.isActive else { return false }
        return Double(bitsPerSecond) > Double(other.bitsPerSecond) * factor
    }

    /// Rates move all the time: what routers and viewers are told of is a quarter more or less.
    fileprivate func differsNotably(from other: VideoLayer) -> Bool {
        func isNotable(_ new: Int, _ old: Int) -> Bool { abs(new - old) * 4 > old }
        var alike = other
        (alike.bitsPerSecond, alike.framesPerSecond) = (bitsPerSecond, framesPerSecond)
        return self != alike
            || isActive && (isNotable(bitsPerSecond, other.bitsPerSecond) || isNotable(framesPerSecond, other.framesPerSecond))
    }
}
