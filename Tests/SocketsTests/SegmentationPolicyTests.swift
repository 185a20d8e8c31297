import Testing
import Wire

@testable import Sockets

@Suite("When UDP GSO is used")
struct SegmentationPolicyTests {
    static let peer = SocketAddress(.loopback, port: 5_004)

    @Test(arguments: [(1_200, 53), (1_232, 51), (100, 54), (1_233, 1), (1_470, 1)])
    func `a run is as long as the kernel takes`(size: Int, segments: Int) {
        var policy = SegmentationPolicy()
        #expect(policy.segments(ofSize: size, to: Self.peer, now: .zero) == segments)
    }

    @Test func `a destination that refused gets datagrams one by one for a minute`() {
        var policy = SegmentationPolicy()
        policy.runWasRefused(by: Self.peer, now: .zero)
        #expect(policy.segments(ofSize: 1_200, to: Self.peer, now: .zero + .seconds(59)) == 1)
        #expect(policy.segments(ofSize: 1_200, to: SocketAddress(.loopback, port: 1), now: .zero) == 53)
        #expect(policy.segments(ofSize: 1_200, to: Self.peer, now: .zero + .seconds(61)) == 53)
    }

    @Test func `what is remembered about destinations is bounded`() {
        var policy = SegmentationPolicy()
        for port in 0..<UInt16(5_000) { policy.runWasRefused(by: SocketAddress(.loopback, port: port), now: .zero) }
        #expect(policy.refusalCount <= SegmentationPolicy.maximumRefusals)
    }
}
