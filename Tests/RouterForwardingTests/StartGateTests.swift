import StageHub
import TestSupport
import Testing
import Wire

@testable import RouterForwarding

@Suite("Start gate")
struct StartGateTests {
    let gate = StartGate(pool: PacketPool())
    let start = MonotonicTime(nanoseconds: 1_000_000_000)

    /// One access unit or audio frame of `count` packets at `time` ms.
    func keep(_ track: TrackID, at time: Int, isKeyframe: Bool = false, count: Int = 3, size: Int = 100) {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: time), count: size)
        bytes.withUnsafeBytes { payload in
            let packets = (0..<count).map { index in
                MediaPacket(
                    sequenceNumber: Int64(time * 10 + index), timestamp: Int64(time), marker: index == count - 1, head: 0x2211,
                    headCount: 2, payload: payload)
            }
            let run = MediaRun(track: track, isKeyframe: isKeyframe, arrival: start + .milliseconds(time))
            packets.withUnsafeBufferPointer { gate.keep($0, of: run) }
        }
    }

    func released() -> [String] {
        var runs: [String] = []
        gate.release { packets, run in
            #expect(packets.allSatisfy { $0.payload[0] == 0x11 && $0.payload[1] == 0x22 })
            #expect(packets.last?.marker == true)
            runs.append("\(run.track.kind)\(packets[0].timestamp)x\(packets.count)\(run.isKeyframe ? "K" : "")")
        }
        return runs
    }

    @Test func `keeps the latest GOP and the sound beside it, in order`() {
        keep(.video, at: 0, isKeyframe: true)
        keep(.video, at: 33)
        keep(.audio, at: 50, count: 1)
        keep(.video, at: 66, isKeyframe: true)
        keep(.audio, at: 70, count: 1)
        keep(.video, at: 99)
        #expect(gate.holdsKeyframe(of: .video))
        #expect(released() == ["video66x3K", "audio70x1", "video99x3"])
        #expect(released().isEmpty)
    }

    @Test func `video before its first keyframe is not kept, sound is`() {
        keep(.video, at: 0)
        keep(.audio, at: 10, count: 1)
        #expect(!gate.holdsKeyframe(of: .video))
        #expect(released() == ["audio10x1"])
    }

    @Test func `a GOP longer than two seconds is given up, up to the next keyframe`() {
        keep(.video, at: 0, isKeyframe: true)
        for time in stride(from: 33, to: 2200, by: 33) { keep(.video, at: time) }
        #expect(!gate.holdsKeyframe(of: .video))
        keep(.video, at: 2300, isKeyframe: true)
        #expect(released() == ["video2300x3K"])
    }

    @Test func `never holds more than 4 MB`() {
        keep(.video, at: 0, isKeyframe: true, count: 4000, size: 1100)
        #expect(!gate.holdsKeyframe(of: .video))
        for time in 1...1900 { keep(.audio, at: time, count: 2, size: 1100) }
        let packets = released().reduce(0) { $0 + ($1.hasSuffix("x2") ? 2 : 1) }
        #expect(packets * 1102 <= StartGate.maximumByteCount)
        #expect(packets > 3000)
    }

    @Test func `sound older than two seconds is dropped from the front`() {
        for time in stride(from: 0, through: 3000, by: 20) { keep(.audio, at: time, count: 1) }
        #expect(released().first == "audio1000x1")
    }
}
