import Foundation
import TestSupport
import Testing

extension Interop {
    /// A node is stopped and started anew while encoders that come back by themselves publish.
    @Suite struct RollingRestart {
        private static let publishers = 10

        @Test(.timeLimit(.minutes(10)))
        func `publishers that try again as OBS does are back at their first or second retry`() throws {
            let gateway = try Gateway(
                configuration: """
                    drain: {grace: 0s, timeout: 1s, closesPerSecond: 20}
                    rates: {resources: 10000}
                    limits: {connectionsPerAddress: 1000}
                    """, participants: 30, rtmpPort: FreePorts.tcp())
            let keys = try gateway.makeStreamKeys(stages: 1, each: Self.publishers)
            let clip = try Clip.p30.file()
            let encoders = try String(contentsOf: keys, encoding: .utf8).split(whereSeparator: \.isWhitespace).map { key in
                try ProgramRun(["bash", "-c", Self.obsLike, "obs", clip, "\(gateway.quickstart.rtmpURL)/\(key)"])
            }
            try expect("all live", within: .seconds(60)) { try gateway.live() == Self.publishers }
            kill(gateway.pid, SIGTERM)
            expect("the old process ends", within: .seconds(60)) { !gateway.isRunning }
            // It listens where the old one did, as a service does.
            let next = try Successor(of: gateway, takesOver: false)
            expect("all are back\n\(next.log.suffix(1_000))", within: .seconds(60)) {
                next.log.components(separatedBy: "\"rtmp_publish_granted\"").count - 1 >= Self.publishers
            }
            for encoder in encoders {
                let attempts = encoder.output.components(separatedBy: "attempt ").count - 1
                #expect((2...(Soak.isAsked ? 3 : 6)).contains(attempts), "\(encoder.output.suffix(500))")
                encoder.kill()
            }
            let refusals = (gateway.log + next.log).matches(of: /SD-(\d+)/).map { String($0.1) }
            #expect(Set(refusals).isSubset(of: ["1070"]), "only as documented: \(Set(refusals))")
            next.stop()
            gateway.stop()
        }

        /// obs-output.c: the first retry after 2 s, each further one after half as long again.
        private static let obsLike = """
            delay=2
            for attempt in 1 2 3 4 5 6; do
                echo "attempt $attempt"
                ffmpeg -hide_banner -nostdin -nostats -v error -re -stream_loop -1 -i "$1" -c copy -t \(Encoder.untilStopped) -f flv "$2" </dev/null
                sleep $delay
                delay=$(awk "BEGIN {print $delay * 1.5}")
            done
            """
    }
}
