import Foundation
import Testing

extension UnderLoad {
    /// A flood of what is not media, at the media port.
    @Suite struct GarbageFlood {
        /// Datagrams of neither STUN, DTLS nor SRTP, and of all three by their first byte.
        @Test(.timeLimit(.minutes(10)))
        func `20 streams lose nothing inside beside 200,000 garbage datagrams a second`() throws {
            let gateway = try Gateway(participants: 25)
            let streams = try WatchedStreams(.whip, 20, of: .full, at: gateway)
            letPass(.seconds(2))
            let (sent, dropped) = try gateway.takeGarbage(perSecond: 200_000, seconds: 5)
            let received = try streams.expectWhole(dropped: dropped)
            print(
                "garbage: \(sent.datagrams) at \(sent.perSecond) a second, \(dropped) dropped by the kernel; streams: \(received)"
            )
            #expect(dropped < sent.datagrams / 2, "most of it was read")
            gateway.stop()
        }
    }
}
