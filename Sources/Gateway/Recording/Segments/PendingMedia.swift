import MP4

/// Samples that stand in no fragment yet. A value.
struct PendingMedia {
    struct Video {
        var timestamp: FileTime
        var byteCount: Int
        var isSync: Bool
    }

    struct Audio {
        /// In the file's time, in samples of the track.
        var timestamp: Int64
        let frame: AudioFrame
    }

    private(set) var video: [Video] = []
    private(set) var audio: [Audio] = []
    /// Of all of `video`, one picture behind the other: it goes into a fragment as it is.
    private var pictures: [UInt8] = []
    private(set) var byteCount = 0
    /// Pictures are not shown in the order in which they come.
    private(set) var isReordered = false
    /// Where the last picture that was cut ends: no decoding time is before it.
    private var videoEnd = FileTime.zero

    mutating func append(_ sample: Video, _ bytes: [UInt8]) {
        if let last = video.last, sample.timestamp < last.timestamp { isReordered = true }
        byteCount += bytes.count
        video.append(sample)
        pictures += bytes
    }

    mutating func append(_ sample: Audio) {
        byteCount += sample.frame.bytes.count
        audio.append(sample)
    }

    /// All sound that waits was taken by another clock.
    mutating func moveAudio(by samples: Int64) { for index in audio.indices { audio[index].timestamp &+= samples } }

    /// - Parameter start: in samples of the track.
    mutating func removeAudio(before start: Int64) {
        byteCount -= audio.reduce(0) { $0 + ($1.timestamp < start ? $1.frame.bytes.count : 0) }
        audio.removeAll { $0.timestamp < start }
    }

    /// Nothing waits any more; what was cut stays what it is.
    mutating func removeAll() { (video, audio, pictures, byteCount, isReordered) = ([], [], [], 0, false) }

    /// More waits than honest times ever let wait: a flood came, or times stand still.
    var isFull: Bool { Self.isTooMuch(byteCount: byteCount, frameCount: max(audio.count, video.count)) }

    static func isTooMuch(byteCount: Int, frameCount: Int) -> Bool { byteCount > maximumByteCount || frameCount > maximumFrames }

    /// Takes the first `count` pictures out, in decoding order.
    /// - Parameter end: when the next picture is shown.
    mutating func cutVideo(count: Int, end: FileTime) -> Fragment.Run? {
        guard count > 0 else { return nil }
        let taken = video[..<count]
        let times = decodeTimes(of: taken, until: end)
        let media = takePictures(taken.reduce(0) { $0 + $1.byteCount })
        var run = Fragment.Run(trackID: TrackDescriptions.videoTrackID, decodeTime: UInt64(max(0, times[0].ticks)), media: media)
        for (index, sample) in taken.enumerated() {
            run.samples.append(
                Fragment.Sample(
                    duration: UInt32(clamping: times[index + 1] - times[index]), byteCount: sample.byteCount,
                    isSync: sample.isSync,
                    compositionOffset: isReordered ? Int32(clamping: sample.timestamp - times[index]) : 0))
        }
        videoEnd = times[count]
        video.removeFirst(count)
        if video.isEmpty || video[0].isSync {
            isReordered = zip(video, video.dropFirst()).contains { $1.timestamp < $0.timestamp }
        }
        return run
    }

    /// When pictures are decoded, each after the one before it, and at last when the last one ends.
    ///
    /// Where pictures are reordered these are the times of showing in rising order: a segment ends before a keyframe, so they are
    /// its own.
    /// - Parameter taken: one at least.
    private func decodeTimes(of taken: ArraySlice<Video>, until end: FileTime) -> [FileTime] {
        var times = taken.map(\.timestamp)
        if isReordered { times.sort() }
        times[0] = max(times[0], videoEnd)
        times.append(end)
        for index in times.indices.dropFirst() { times[index] = max(times[index], times[index - 1] + 1) }
        return times
    }

    /// The few that stay are copied, and the many that go are not. There is room for as many more.
    private mutating func takePictures(_ count: Int) -> [UInt8] {
        byteCount -= count
        var rest: [UInt8] = []
        rest.reserveCapacity(count + count / 4)
        rest += pictures[count...]
        pictures.removeLast(rest.count)
        swap(&pictures, &rest)
        return rest
    }

    /// Takes the frames out that begin before `end`, in samples of the track.
    mutating func cutAudio(before end: Int64, by clock: inout AudioClock) -> Fragment.Run? {
        let count = audio.prefix { $0.timestamp < end }.count
        guard count > 0 else { return nil }
        var run: Fragment.Run?
        // Where its last frame ends.
        var runEnd: Int64 = 0
        for (place, sample) in audio[..<count].enumerated() {
            let bytes = sample.frame.bytes
            byteCount -= bytes.count
            guard let time = clock.place(sample, followedBy: audio[(place + 1)...]), let next = clock.next else { continue }
            if run == nil { run = Fragment.Run(trackID: TrackDescriptions.audioTrackID, decodeTime: UInt64(max(0, time))) }
            // A gap before this frame belongs to the one before it.
            if let index = run?.samples.indices.last, time > runEnd {
                run?.samples[index].duration += UInt32(clamping: time - runEnd)
            }
            run?.append(Fragment.Sample(duration: UInt32(clamping: next - time), byteCount: bytes.count), bytes)
            runEnd = next
        }
        audio.removeFirst(count)
        return run
    }

    /// A minute at the contract's highest bitrate.
    static let maximumByteCount = 1 << 26
    /// Of each track. A minute of Opus' shortest packets is 24,000.
    static let maximumFrames = 1 << 15
}
