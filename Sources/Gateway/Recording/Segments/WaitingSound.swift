/// Sound that waits for a keyframe, or until it is clear that there will be sound alone. A value.
///
/// Where it is in the file is known only then: until then it keeps the encoder's times, in samples of the track.
struct WaitingSound {
    private(set) var frames: [(encoderSamples: Int64, frame: AudioFrame)] = []
    private(set) var byteCount = 0

    /// A frame more than a second away from the one before it has nothing to do with what waits, which goes.
    /// - Parameter timescale: samples a second.
    mutating func append(_ frame: AudioFrame, at encoderSamples: Int64, timescale: Int64) {
        let isElsewhere = frames.last.map { (encoderSamples &- $0.encoderSamples).magnitude > UInt64(timescale) } ?? false
        if isElsewhere || PendingMedia.isTooMuch(byteCount: byteCount, frameCount: frames.count) { removeAll() }
        frames.append((encoderSamples, frame))
        byteCount += frame.bytes.count
    }

    /// It was taken by another clock.
    mutating func move(by samples: Int64) { for index in frames.indices { frames[index].encoderSamples &+= samples } }

    mutating func removeAll() { (frames, byteCount) = ([], 0) }
}
