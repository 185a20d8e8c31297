import Foundation
import TestSupport
import Testing

extension Interop {
    /// Recordings on disks that fail, beside streams that must not feel it.
    @Suite struct RecordedDisk {
        @Test(.timeLimit(.minutes(10)), .enabled(if: Privileges.mounts, "mounts a file system, which needs root"))
        func `a full disk ends recordings in words, touches no stream, and takes the next publish once it has room`() throws {
            let (data, folder) = (Workspace.temporaryFile(suffix: ".data"), RecordingFolder())
            let disk = try SmallDisk(megabytes: 8, at: data.appending(path: "spool"))
            let gateway = try Gateway(configuration: folder.setting, data: data)
            let streams = try WatchedStreams(.whip, 2, at: gateway)
            expect("both are recorded\n\(gateway.log.suffix(2_000))", within: .seconds(90)) {
                folder.playlists.count == 2 && folder.segments >= 4
            }
            try disk.fill()
            expect("both fail\n\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                gateway.logged("recording_failed").count == 2
            }
            for line in gateway.log.split(separator: "\n") where line.contains("\"recording_failed\"") {
                #expect(line.contains("No space left on device"), "\(line)")
            }
            expect("what is whole is stored, and that it failed\n\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                folder.hasEnded(2) && folder.files.count { $0.hasSuffix("/recording-failed.json") } == 2
            }
            for playlist in folder.playlists { #expect(try MediaFile.frameDigests(playlist).count > 100) }
            let told = try gateway.events { $0.count { $0.name == "Recording End Failure" } >= 2 }.map(\.name)
            for name in ["Recording Start", "Recording End Failure"] { #expect(told.count { $0 == name } == 2, "\(told)") }
            try streams.expectWhole()

            try disk.free()
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            expect("the next one is recorded\n\(gateway.log.suffix(2_000))", within: .seconds(60)) { folder.hasEnded(3) }
            let next = try #require(folder.playlists.first { $0.contains("/\(gateway.quickstart.participantId)/") })
            try MediaFile.expectFrames(of: Clip.p30.file(), in: next, saidGoodbye: gateway.heardGoodbyes)
            try folder.expectHLS()
            gateway.expectFewLines(recordings: 2)
            gateway.stop()
            #expect(try FileManager.default.contentsOfDirectory(atPath: data.path + "/spool").isEmpty)
        }

        @Test(.timeLimit(.minutes(10)))
        func `a slow disk is a gap in recordings, and no stream feels it`() throws {
            try Self.outliveSlowness(streams: 3, milliseconds: 30_000)
        }

        /// Records RTMP streams while each write to the spool takes so much longer, until recordings
        /// have gaps, and a little after.
        static func outliveSlowness(streams count: Int, milliseconds: Int) throws {
            let (disk, folder) = (try SlowDisk(milliseconds: milliseconds), RecordingFolder())
            let gateway = try Gateway(
                configuration: folder.setting + "\n" + Gateway.roomForMany, participants: count + 2, data: disk.data,
                launcher: disk.launcher)
            let streams = try WatchedStreams(.rtmp, count, at: gateway)
            expect("all are recorded\n\(gateway.log.suffix(2_000))", within: .seconds(90)) { folder.playlists.count == count }
            for _ in 0..<2 { disk.makeGap(at: gateway) }
            let before = folder.segments
            expect("they go on\n\(gateway.log.suffix(2_000))", within: .seconds(120)) { folder.segments >= before + 2 * count }
            try streams.expectWhole()
            expect("all are over\n\(gateway.log.suffix(2_000))", within: .seconds(120)) { folder.hasEnded(count) }
            gateway.stop()
            try folder.expectHLS()
            #expect(gateway.logged("recording_failed").isEmpty)
            let texts = try folder.playlists.map { try String(contentsOfFile: $0, encoding: .utf8) }
            #expect(texts.contains { $0.contains("#EXT-X-DISCONTINUITY\n") })
            // Of all recordings together.
            gateway.expectFewLines(of: "recording_gap")
        }
    }
}
