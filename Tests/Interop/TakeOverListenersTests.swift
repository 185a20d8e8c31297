import Foundation
import TestSupport
import Testing

extension Interop {
    /// A take-over by a process whose configuration has other listeners.
    @Suite struct TakeOverListeners {
        @Test(.timeLimit(.minutes(10)))
        func `an address that is left behind refuses connections, and serves again when the place is given back`() throws {
            let (port, other) = (FreePorts.tcp(), FreePorts.tcp())
            let gateway = try Gateway(rtmpPort: port)
            let encoder = try live(gateway)
            try gateway.change("rtmp: {listen: \"127.0.0.1:\(port)\"}", to: "rtmp: {listen: \"127.0.0.1:\(other)\"}")
            let successor = try Successor(of: gateway)
            try #require(successor.tookOver(within: .seconds(60)), "\(successor.log)")
            expect("nobody waits there in vain", within: .seconds(60)) { (try? RawConnection(port: port)) == nil }
            #expect(isServed(other))
            successor.kill()
            expect("the place is given back\n\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                gateway.count(of: "handover_rolled_back") == 1
            }
            expect("it is served again", within: .seconds(60)) { isServed(port) }
            #expect(encoder.isRunning, "\(encoder.output)")
            encoder.interrupt()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a take-over that would leave the media port is refused in words`() throws {
            let gateway = try Gateway()
            let encoder = try live(gateway)
            try gateway.change("media: {listen: \"127.0.0.1:0\"", to: "media: {listen: \"127.0.0.2:0\"")
            let successor = try Successor(of: gateway)
            expect("it gives up", within: .seconds(60)) { !successor.isRunning }
            #expect(successor.log.contains("media.listen changed"), "\(successor.log)")
            expect("the place is given back\n\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                gateway.count(of: "handover_rolled_back") == 1
            }
            #expect(try gateway.admin("readyz").contains("\"ok\""))
            #expect(encoder.isRunning, "\(encoder.output)")
            encoder.interrupt()
            gateway.stop()
        }

        private func live(_ gateway: Gateway) throws -> ProgramRun {
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            return encoder
        }

        /// Whether RTMP's handshake is answered there: C0 and C1, then S0 to S2.
        private func isServed(_ port: UInt16) -> Bool {
            guard let connection = try? RawConnection(port: port) else { return false }
            defer { connection.close() }
            connection.send([3] + [UInt8](repeating: 0, count: 1_536))
            return connection.receives(1 + 2 * 1_536, within: .seconds(60))
        }
    }
}
