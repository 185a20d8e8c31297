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

    private func bringPacket(at arrival: MonotonicTime = .zero) {
        ([0xFC, 1, 2] as [UInt8]).withUnsafeBytes { payload in
            let packets = [MediaPacket(sequenceNumber: 0, timestamp: 0, marker: true, payload: payload)]
            packets.withUnsafeBufferPointer {
                publication.forward($0, of: MediaRun(track: .audio, isKeyframe: false, arrival: arrival))
            }
        }
    }

    private func bringFrame() {
        [UInt8](repeating: 7, count: 10).withUnsafeBytes {
            publication.forwardSourceAudio($0, at: .zero, arrival: .zero)
        }
    }

    /// What the writer reads, clocks left out.
    private func read() -> [String] {
        var names: [String] = []
        _ = tap.feed.drain { block in
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
}
