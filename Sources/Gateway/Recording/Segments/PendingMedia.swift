import MP4

/// Samples that stand in no fragment yet. A value; times are those of the recording's file.
struct PendingMedia {
    struct Video {
        /// In ticks of 90 kHz.
        var timestamp: Int64
        var bytes: [UInt8]
        var isSync: Bool
    }

    struct Audio {
        /// In samples of the track.
        var timestamp: Int64
        var duration: Int64
        var bytes: [UInt8]
    }

    var video: [Video] = []
    var audio: [Audio] = []
    private(set) var byteCount = 0
    /// Pictures are not shown in the order in which they come.
    private(set) var isReordered = false

    mutating func append(_ sample: Video) {
        if let last = video.last, sample.timestamp < last.timestamp { isReordered = true }
        byteCount += sample.bytes.count
        video.append(sample)
    }

    mutating func append(_ sample: Audio) {
        byteCount += sample.bytes.count
        audio.append(sample)
    }

    /// All sound that waits was taken by another clock.
    mutating func moveAudio(by samples: Int64) { for index in audio.indices { audio[index].timestamp &+= samples } }

    /// Nothing waits any more; what was cut stays what it is.
    mutating func removeAll() { (video, audio, byteCount, isReordered) = ([], [], 0, false) }

    /// Takes the first `count` pictures out, in decoding order.
    ///
    /// Where pictures are reordered, decoding times are the times of showing in rising order: a segment ends before a keyframe, so
    /// they are its own.
    /// - Parameter end: when the next picture is shown.
    mutating func cutVideo(count: Int, end: Int64) -> Fragment.Run? {
        guard count > 0 else { return nil }
        let taken = video[..<count]
        var times = taken.map(\.timestamp)
        if isReordered { times.sort() }
        times[0] = max(times[0], videoEnd)
        for index in times.indices.dropFirst() where times[index] <= times[index - 1] { times[index] = times[index - 1] + 1 }
        var run = Fragment.Run(trackID: SegmentMachine.videoTrackID, decodeTime: UInt64(max(0, times[0])))
        for (index, sample) in taken.enumerated() {
            let next = index + 1 < times.count ? times[index + 1] : max(end, times[index] + 1)
            run.samples.append(
                Fragment.Sample(
                    duration: UInt32(clamping: next - times[index]), bytes: sample.bytes, isSync: sample.isSync,
                    compositionOffset: isReordered ? Int32(clamping: sample.timestamp - times[index]) : 0))
            byteCount -= sample.bytes.count
            videoEnd = next
        }
        video.removeFirst(count)
        if video.isEmpty || video[0].isSync {
            isReordered = zip(video, video.dropFirst()).contains { $1.timestamp < $0.timestamp }
        }
        return run
    }

    /// Takes the frames out that begin before `end`, in samples of the track.
    mutating func cutAudio(before end: Int64, by clock: inout AudioClock) -> Fragment.Run? {
        let count = audio.prefix { $0.timestamp < end }.count
        guard count > 0 else { return nil }
        var run: Fragment.Run?
        for frame in audio[..<count] {
            byteCount -= frame.bytes.count
            guard let time = clock.place(frame.timestamp, duration: frame.duration) else { continue }
            if run == nil { run = Fragment.Run(trackID: SegmentMachine.audioTrackID, decodeTime: UInt64(max(0, time))) }
            let duration = UInt32(clamping: (clock.next ?? time) - time)
            // A gap before this frame belongs to the one before it.
            if let index = run?.samples.indices.last, let end = runEnd, time > end {
                run?.samples[index].duration += UInt32(clamping: time - end)
            }
            run?.samples.append(Fragment.Sample(duration: duration, bytes: frame.bytes))
            runEnd = clock.next
        }
        audio.removeFirst(count)
        runEnd = nil
        return run
    }

    /// Where the run of audio that is being written ends so far.
    private var runEnd: Int64?
    /// Where the last picture that was cut ends: no decoding time is before it.
    private var videoEnd: Int64 = 0
}
