import Foundation
import Testing

extension Interop {
    /// `stagedoor-bench receive`, which tests and `make soak` have at a router's place.
    @Suite struct BenchReceiver {
        @Test(.timeLimit(.minutes(10)), arguments: [SIGINT, SIGTERM])
        func `a signal ends it while media goes on coming`(signal: Int32) throws {
            let port = Gateway.freeRouterPorts(1)
            let receiver = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "receive", "--ports", "\(port)", "--seconds", "\(Encoder.untilStopped)",
            ])
            expect("it is ready", within: .seconds(60)) { receiver.output.contains("receiving") }
            let (gateway, router) = (try DatagramSocket(), DatagramSocket.loopback(port: UInt16(port)))
            let packet: [UInt8] = [0x80, 96] + [UInt8](repeating: 0, count: 10)
            gateway.send(packet, to: router)
            receiver.send(signal)
            expect("it ends\n\(receiver.output)", within: .seconds(60)) {
                gateway.send(packet, to: router)
                return !receiver.isRunning
            }
            let received = try receiver.report(Received.self, within: .seconds(60))
            #expect(received.sources == 1 && received.received == 1, "what came before: \(receiver.lastLine)")
        }
    }
}
