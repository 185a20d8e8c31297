import AAC
import EventLoop
import TestSupport
import Testing
import Wire

@testable import Transcoding

@Suite("AudioTranscoder")
struct AudioTranscoderTests {
    @Test(.timeLimit(.minutes(10)))
    func `many streams come back in order, each to its own receiver`() throws {
        let audio = try EncodedAudio(filter: "sine=frequency=1000:sample_rate=48000", seconds: 2, rate: 48_000, channels: 2)
        let pool = try TranscodingPool(threadCount: 2)
        defer { pool.stop() }
        let loop = try EventLoop()
        let transcoder = try AudioTranscoder(loop: loop, pool: pool)
        var times: [Int: [Int64]] = [:]
        let streams = (0..<8).map { number in
            transcoder.open(audio.config) { if case .packet(_, let time) = $0 { times[number, default: []].append(time) } }
        }
        // Frames arrive four times faster than real ones, over several turns, while the threads keep up with them: a busy
        // machine may stop one for longer than the half second after which frames are dropped.
        var next = 0
        let feeder = loop.schedule(after: .milliseconds(5), repeating: .milliseconds(5)) {
            let done = streams.indices.map { times[$0]?.count ?? 0 }.min() ?? 0
            guard next < audio.frames.count, next - done < 12 else { return }
            for stream in streams { audio.frames[next].withUnsafeBytes { stream.submit($0, mediaTime: audio.stamp(next)) } }
            next += 1
        }
        defer { feeder.cancel() }
        let wanted = audio.frames.count * 1_024 / 960
        #expect(loop.run(until: { times.count == 8 && times.values.allSatisfy { $0.count == wanted } }, within: .seconds(120)))
        #expect(Set(times.values.map { $0 }).count == 1)
        #expect(pool.droppedFrameCount == 0)
    }

    @Test
    func `a worker's streams share a thread until another has a quarter less to do`() throws {
        let pool = try TranscodingPool(threadCount: 2)
        defer { pool.stop() }
        let (home, other) = (pool.makeHome(), pool.makeHome())
        #expect(home != other)
        let threads = (0..<20).map { _ in pool.makeStream(home: home).thread }
        #expect(threads.prefix(3).allSatisfy { $0 == home })
        #expect(abs(threads.count { $0 == home } - 10) <= 2)
        for thread in threads { pool.streamClosed(on: thread) }
        #expect(pool.makeStream(home: other).thread == other)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a hundred streams wake their thread and their worker once in 20 ms`() throws {
        let audio = try EncodedAudio(filter: "sine=frequency=1000:sample_rate=48000", seconds: 1, rate: 48_000, channels: 2)
        let pool = try TranscodingPool(threadCount: 1)
        defer { pool.stop() }
        let loop = try EventLoop()
        let transcoder = try AudioTranscoder(loop: loop, pool: pool)
        var arrivals: Set<MonotonicTime> = []
        let streams = (0..<100).map { _ in transcoder.open(audio.config) { _ in arrivals.insert(loop.now) } }
        // One stream's frame each 200 µs.
        var next = 0
        let feeder = loop.schedule(after: .microseconds(200), repeating: .microseconds(200)) {
            let frame = next / streams.count % audio.frames.count
            audio.frames[frame].withUnsafeBytes { streams[next % streams.count].submit($0, mediaTime: audio.stamp(frame)) }
            next += 1
        }
        defer { feeder.cancel() }
        let start = EventLoop.monotonicNow()
        let isLong = { EventLoop.monotonicNow() - start >= .milliseconds(500) }
        #expect(loop.run(until: { arrivals.count >= 2 && isLong() }, within: .seconds(120)))
        let elapsed = EventLoop.monotonicNow() - start
        #expect(arrivals.count <= Int(elapsed.nanoseconds / AudioTranscoder.batchInterval.nanoseconds) + 2)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a flood is bounded and a closed stream is silent`() throws {
        let pool = try TranscodingPool(threadCount: 1)
        defer { pool.stop() }
        let loop = try EventLoop()
        let transcoder = try AudioTranscoder(loop: loop, pool: pool)
        let config = try #require(AudioSpecificConfig(lowComplexityAt: 48_000, channelCount: 2))
        var received = 0
        var stream: TranscodingStream? = transcoder.open(config) { _ in received += 1 }
        let noise = [UInt8](repeating: 0x55, count: 4_000)
        for index in 0..<10_000 { noise.withUnsafeBytes { stream?.submit($0, mediaTime: Int64(index) * 1_024) } }
        #expect(pool.droppedFrameCount > 9_000)
        stream = nil
        // The one thread takes its streams' frames in turns: what comes of another's comes after all of the closed one's.
        let audio = try EncodedAudio(filter: "sine=frequency=1000:sample_rate=48000", seconds: 1, rate: 48_000, channels: 2)
        var (heard, next) = (0, 0)
        let other = transcoder.open(audio.config) { if case .packet = $0 { heard += 1 } }
        let feeder = loop.schedule(after: .zero, repeating: .milliseconds(20)) {
            audio.frames[next % audio.frames.count].withUnsafeBytes { other.submit($0, mediaTime: audio.stamp(next)) }
            next += 1
        }
        defer { feeder.cancel() }
        #expect(loop.run(until: { heard > 10 }, within: .seconds(120)))
        #expect(received == 0)
    }

    /// Of a hundred thousand bytes, silence of half an hour would come, and the thread's other streams would wait for it.
    @Test
    func `frames that come faster than sound are left out, however small`() throws {
        let pool = try TranscodingPool(threadCount: 1)
        defer { pool.stop() }
        let transcoder = try AudioTranscoder(loop: try EventLoop(), pool: pool)
        let stream = transcoder.open(try #require(AudioSpecificConfig(lowComplexityAt: 48_000, channelCount: 2))) { _ in }
        for index in 0..<100_000 { [0 as UInt8].withUnsafeBytes { stream.submit($0, mediaTime: Int64(index) * 1_024) } }
        // The loop's clock goes on once, when the first batch's timer is set: what a slow machine
        // has earned by then is taken too.
        let least = FrameAllowance.maximum - FrameAllowance.opening
        #expect((least...FrameAllowance.maximum + 2).contains(100_000 - pool.droppedFrameCount))
    }

    /// Each one's first frame makes codecs.
    @Test
    func `a publish that opens a stream for each frame has as many as there is sound for`() throws {
        let pool = try TranscodingPool(threadCount: 1)
        defer { pool.stop() }
        let transcoder = try AudioTranscoder(loop: try EventLoop(), pool: pool)
        let allowance = FrameAllowance()
        for index in 0..<1_000 {
            let config = try #require(AudioSpecificConfig(lowComplexityAt: 48_000, channelCount: 1 + index % 2))
            let stream = transcoder.open(config, allowance: allowance) { _ in }
            [0 as UInt8].withUnsafeBytes { stream.submit($0, mediaTime: Int64(index) * 1_024) }
        }
        // One more where the first stream took longer: the loop's clock goes on when that closes.
        let most = FrameAllowance.maximum / (FrameAllowance.opening + 1) + 1
        #expect((most - 1...most).contains(1_000 - pool.droppedFrameCount))
    }

    @Test
    func `two thousand frames at once, then 500 a second, are as many as there is sound for`() {
        let allowance = FrameAllowance()
        func taken(_ count: Int, every interval: Duration, from start: Duration) -> Int {
            (0..<count).count { allowance.take(at: MonotonicTime(nanoseconds: 1) + start + interval * $0) }
        }
        let counts = [
            taken(3_000, every: .zero, from: .zero), taken(3_000, every: .zero, from: .seconds(1)),
            // The shortest packets, as they are made.
            taken(20_000, every: .microseconds(2_500), from: .seconds(2)),
        ]
        #expect(counts == [2_000, 500, 20_000])
    }

    @Test(.timeLimit(.minutes(10)))
    func `a failing stream says so once`() throws {
        let pool = try TranscodingPool(threadCount: 1)
        defer { pool.stop() }
        let loop = try EventLoop()
        let transcoder = try AudioTranscoder(loop: loop, pool: pool)
        var audio = try EncodedAudio(filter: "sine=sample_rate=48000", seconds: 1, rate: 48_000, channels: 1)
        audio.config.sampleRate = 44_100
        var failures: [TranscodingError] = []
        let stream = transcoder.open(audio.config) { if case .failed(let error) = $0 { failures.append(error) } }
        for (index, frame) in audio.frames.enumerated() {
            frame.withUnsafeBytes { stream.submit($0, mediaTime: audio.stamp(index)) }
        }
        #expect(loop.run(until: { !failures.isEmpty }, within: .seconds(120)))
        #expect(!loop.run(until: { failures.count > 1 }, within: .milliseconds(300)))
        #expect(failures == [.formatChanged])
    }
}
