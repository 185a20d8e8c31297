import EventLoop
import RTP
import SRTP
import StageHub
import TestSupport
import Testing
import Wire

@testable import RouterForwarding

/// From the hub to the wire: numbering, SRTP, the ring for NACKs, the send queue and the turn's runs allocate nothing once they
/// have warmed up.
@Suite("RouterLeg, allocations", .serialized)
struct AllocationTests {
    enum Variant: CaseIterable { case plain, nacked, protected }

    @Test(arguments: Variant.allCases)
    func `frames go out without an allocation`(_ variant: Variant) throws {
        let bench = try Bench()
        var plan = bench.plan
        if variant == .nacked { plan.tracks[0].isNACKed = true }
        if variant == .protected {
            let profile = SRTPProfile.aeadAES128GCM
            let count = profile.masterKeyByteCount + profile.masterSaltByteCount
            plan.keys = SRTPKeys(profile: profile, keyAndSalt: Secret([UInt8](repeating: 7, count: count)))
        }
        let leg = try #require(bench.leg)
        #expect(leg.open(plan))
        let payload = [UInt8](repeating: 0x41, count: 1_172)
        var number: Int64 = 0
        // More runs than leave by one call: sixteen leave within the turn, the others at its end.
        func frames() {
            payload.withUnsafeBytes { payload in
                withUnsafeTemporaryAllocation(of: MediaPacket.self, capacity: 3) { packets in
                    for _ in 0..<20 {
                        for index in 0..<3 {
                            number += 1
                            packets.initializeElement(
                                at: index,
                                to: MediaPacket(
                                    sequenceNumber: number, timestamp: number / 3 * 3_000, marker: index == 2, payload: payload))
                        }
                        let run = MediaRun(track: .video, isKeyframe: false, arrival: bench.loop.now)
                        bench.publication.forward(UnsafeBufferPointer(packets), of: run)
                    }
                }
            }
        }
        bench.publication.timeline.observe(3_000, of: .video, arrival: bench.loop.now)
        // More at one moment than a receiver takes would be spread. The ring for NACKs holds a quarter of a second.
        for _ in 0..<60 {
            bench.loop.inTurn(frames)
            _ = bench.loop.run(until: { false }, within: .milliseconds(10))
        }
        var count: Int?
        bench.loop.inTurn { count = try? AllocationCounter.count { frames() } }
        #expect(bench.wait { bench.packets.count == 61 * 60 })
        #expect(count == 0)
    }
}
