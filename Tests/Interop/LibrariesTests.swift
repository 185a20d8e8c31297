import Foundation
import Testing

extension Interop {
    /// The C libraries that scripts/install-deps builds of Debian's sources.
    @Suite struct Libraries {
        /// libswresample calls nothing that FORTIFY could check.
        private static let built = [
            ("libsrtp2", true), ("libnice", true), ("libavcodec", true), ("libavutil", true), ("libswresample", false),
        ]

        @Test(.timeLimit(.minutes(10)), arguments: built)
        func `what we build is as hard to exploit as what Debian builds`(_ name: String, _ isFortified: Bool) throws {
            let file = Workspace.package.appending(path: ".deps/lib/\(name).so").path
            let shown = try ProgramRun.output(of: ["readelf", "-W", "-d", "-l", "--dyn-syms", file], within: .seconds(60))
            #expect(shown.contains("BIND_NOW") && shown.contains("GNU_RELRO"), "full RELRO")
            #expect(shown.contains(/GNU_STACK .* RW +0x/), "no executable stack")
            #expect(shown.contains("__stack_chk_fail"), "stack protector")
            #expect(shown.contains(/__\w+_chk@/) == isFortified, "FORTIFY")
        }

        @Test(.timeLimit(.minutes(10)))
        func `the log and the doctor name the versions that are loaded`() throws {
            let gateway = try Gateway()
            var started = ""
            expect("it says that it has started", within: .seconds(60)) {
                started = gateway.log.split(separator: "\n").first { $0.contains(#""event":"started""#) }.map(String.init) ?? ""
                return !started.isEmpty
            }
            gateway.stop()
            let doctor = try ProgramRun([try Workspace.program("stagedoor"), "doctor"])
            #expect(doctor.status(within: .seconds(60)) != nil)
            for source in ["libsrtp2", "libnice", "ffmpeg"] {
                let stamp = try String(contentsOf: Workspace.package.appending(path: ".deps/stamp-\(source)"), encoding: .utf8)
                let version = try #require(stamp.split(whereSeparator: \.isWhitespace).last)
                #expect(started.contains("\"\(source) \(version)\""), "\(started)")
                #expect(doctor.output.contains("\(source) \(version)"), "\(doctor.output)")
            }
            for other in ["OpenSSL 3.", "libevent 2.", "libcurl ", "Opus ", "SQLite 3."] {
                #expect(started.contains(other) && doctor.output.contains(other), "\(other) in \(started)\n\(doctor.output)")
            }
        }
    }
}
