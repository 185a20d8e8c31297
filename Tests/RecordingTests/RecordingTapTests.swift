import Admission
import Refusals
import StageHub
import Testing
import Wire

@testable import Recording

@Suite("RecordingTap")
struct RecordingTapTests {
    private let publication: Publication
    private let tap: RecordingTap

    init() {
        let grant = PublishGrant(participantID: "alice", stageARN: "arn:s", stageID: "s", credentialHash: "h")
        let lease = PublishLease(participantID: "alice", stageID: "s", stageSessionID: "st", generation: 1)
        publication = Publication(grant: grant, lease: lease, ingestProtocol: .rtmp, timeline: Timeline())
        tap = RecordingTap(publication, takesVideo: true, takesAudio: true)
        publication.add(tap)
    }

    private func bringPacket(of track: TrackID = .audio, isKeyframe: Bool = false, at arrival: MonotonicTime = .zero) {
        ([0xFC, 1, 2] as [UInt8]).withUnsafeBytes { payload in
            let packets = [MediaPacket(sequenceNumber: 0, timestamp: 0, marker: true, payload: payload)]
            packets.withUnsafeBufferPointer {
                publication.forward($0, of: MediaRun(track: track, isKeyframe: isKeyframe, arrival: arrival))
            }
        }
    }

    private func bringFrame(at arrival: MonotonicTime = .zero) {
        [UInt8](repeating: 7, count: 10).withUnsafeBytes {
            publication.forwardSourceAudio($0, at: .zero, arrival: arrival)
        }
    }

    /// What the writer reads, clocks left out.
    private func read(_ other: RecordingTap? = nil) -> [String] {
        var names: [String] = []
        _ = (other ?? tap).feed.drain { block in
            names += block.entries.compactMap { entry -> String? in
                switch entry {
                case .packet: "packet"
                case .sourceFrame: "frame"
                case .sourceFormat(.aac(let configuration)): "aac \(configuration)"
                case .opusFormat(let isStereo): isStereo ? "opus stereo" : "opus mono"
                case .clock: nil
                case .layerBegan: "layer"
                case .restarted: "restarted"
                case .lost: "lost"
                }
            }
        }
        return names
    }

    /// As Enhanced RTMP lets an encoder do.
    @Test(arguments: [true, false])
    func `Opus that follows AAC is taken, and AAC that follows Opus`(_ isStereo: Bool) {
        publication.setSourceAudioFormat(.aac(configuration: [17, 144]))
        publication.setFormat(.opus(isStereo: true), of: .audio)
        bringFrame()
        bringPacket()
        publication.setFormat(.opus(isStereo: isStereo), of: .audio)
        publication.setSourceAudioFormat(nil)
        bringPacket()
        publication.setSourceAudioFormat(.aac(configuration: [18, 16]))
        publication.setFormat(.opus(isStereo: true), of: .audio)
        bringPacket()
        bringFrame()
        publication.end(.closed)
        #expect(
            read() == [
                "aac [17, 144]", "frame", isStereo ? "opus stereo" : "opus mono", "packet", "aac [18, 16]", "frame",
            ])
    }

    /// `AUDIO_ONLY`, and thumbnails alone.
    @Test(
        arguments: [
            (true, ["opus stereo", "packet", "packet", "aac [17, 144]"]),
            (false, ["opus stereo", "packet", "aac [17, 144]", "frame"]),
        ] as [(Bool, [String])])
    func `of pictures alone no sound is taken, and of sound alone no pictures`(_ takesVideo: Bool, _ expected: [String]) {
        let half = RecordingTap(publication, takesVideo: takesVideo, takesAudio: !takesVideo)
        publication.add(half)
        publication.setFormat(.opus(isStereo: true), of: .audio)
        bringPacket(of: .video, isKeyframe: true)
        bringPacket(of: .video)
        bringPacket()
        publication.setSourceAudioFormat(.aac(configuration: [17, 144]))
        bringFrame()
        publication.end(.closed)
        #expect(read(half) == expected)
    }

    /// A disk that stalls for longer than the blocks last.
    @Test func `a format that comes while all blocks are out is told with the first one after`() {
        publication.setFormat(.opus(isStereo: false), of: .audio)
        // Each goes into a block of its own; nobody reads.
        let moments = (0..<RecordingBlockPool.maximumBlocks + 10).map { MonotonicTime.zero + .milliseconds(200 * $0) }
        for moment in moments { bringPacket(at: moment) }
        publication.setFormat(.opus(isStereo: true), of: .audio)
        bringPacket(at: moments[moments.count - 1])
        let before = read()
        #expect(before.filter { $0 != "packet" } == ["opus mono"] && before.count == 1 + RecordingBlockPool.maximumBlocks)
        bringPacket(at: moments[moments.count - 1])
        publication.end(.closed)
        #expect(read() == ["lost", "opus stereo", "packet"])
    }

    /// A disk that stalls again while the writer catches up.
    @Test func `blocks that were read go out again while those behind them are being read`() {
        publication.setFormat(.opus(isStereo: true), of: .audio)
        var (broughtCount, readCount) = (0, 0)
        // Each goes into a block of its own.
        func bring() {
            bringPacket(at: MonotonicTime.zero + .milliseconds(200 * broughtCount))
            broughtCount += 1
        }
        for _ in 0..<RecordingBlockPool.maximumBlocks { bring() }
        _ = tap.feed.drain { _ in
            // The block at hand is not given back yet.
            if readCount > 0 { bring() }
            readCount += 1
        }
        publication.end(.closed)
        #expect(read() == Array(repeating: "packet", count: broughtCount - readCount))
    }

    /// Of a recording without pictures nothing else tells when a segment began.
    @Test func `the clock of sound that is recorded as it came is read with every block`() {
        publication.setSourceAudioFormat(.aac(configuration: [17, 144]))
        for step in 0..<150 as Range<Int64> {
            let arrival = MonotonicTime.zero + .milliseconds(20 * step)
            _ = publication.timeline.place(.milliseconds(20 * step), of: .audio, arrival: arrival)
            bringFrame(at: arrival)
        }
        publication.end(.closed)
        var readings: [Int64] = []
        _ = tap.feed.drain { block in
            for case .clock(.audio, _, let timestamp) in block.entries { readings.append(timestamp) }
        }
        #expect(readings == (0..<15).map { $0 * 9_600 })
    }

    /// A browser sends none by itself.
    @Test func `a keyframe is asked for where pictures were lost`() {
        let encoder = AskedEncoder()
        publication.source = encoder
        bringPacket(of: .video, isKeyframe: true)
        let moments = (0..<RecordingBlockPool.maximumBlocks + 10).map { MonotonicTime.zero + .milliseconds(200 * $0) }
        for moment in moments { bringPacket(of: .video, at: moment) }
        let last = moments[moments.count - 1]
        #expect(read() == Array(repeating: "packet", count: RecordingBlockPool.maximumBlocks + 1))
        #expect(encoder.asked == [.video])
        bringPacket(of: .video, at: last)
        bringPacket(of: .video, isKeyframe: true, at: last)
        bringPacket(of: .video, at: last)
        publication.end(.closed)
        #expect(read() == ["lost", "packet", "packet"])
    }

    /// As where a browser's sound has another source from now on.
    @Test func `a keyframe is asked for where numbers begin anew and pictures go on`() {
        let encoder = AskedEncoder()
        publication.source = encoder
        bringPacket(of: .video, isKeyframe: true)
        publication.restarted()
        bringPacket(of: .video)
        #expect(encoder.asked == [.video])
        bringPacket(of: .video, isKeyframe: true)
        bringPacket(of: .video)
        publication.end(.closed)
        #expect(read() == ["packet", "restarted", "packet", "packet"])
    }

    @Test func `a keyframe is asked for where sound becomes another, not where it begins`() {
        let encoder = AskedEncoder()
        publication.source = encoder
        bringPacket(of: .video, isKeyframe: true)
        publication.setFormat(.opus(isStereo: false), of: .audio)
        bringPacket(of: .video)
        #expect(encoder.asked.isEmpty)
        publication.setFormat(.opus(isStereo: true), of: .audio)
        bringPacket(of: .video)
        #expect(encoder.asked == [.video])
        bringPacket(of: .video, isKeyframe: true)
        publication.end(.closed)
        #expect(read() == ["packet", "opus mono", "packet", "opus stereo", "packet"])
    }
}

/// Remembers of which tracks it was asked for a keyframe.
private final class AskedEncoder: MediaSource {
    let canRequestKeyframe = true
    private(set) var asked: [TrackID] = []

    func requestKeyframe(_ track: TrackID) { asked.append(track) }
    func limitBitrate(_ bitsPerSecond: Int?) {}
}
