import Foundation
import Testing

extension Interop {
    /// What an encoder sends is what its recording holds, by ffmpeg's own reading of it.
    @Suite struct Recording {
        @Test(.timeLimit(.minutes(10)), arguments: [Clip.p30, .slices])
        func `every frame that RTMP brought is in the recording, and its AAC as it came`(clip: Clip) throws {
            let folder = RecordingFolder()
            let gateway = try recorded(into: folder) { try Encoder.ffmpeg(clip, to: $0.publishURL) }
            let playlist = try #require(folder.playlists.first)
            try MediaFile.expectFrames(of: clip.file(), in: playlist, saidGoodbye: gateway.heardGoodbyes)
            // Not a packet of sound is another one than the encoder's. What came before the first picture is left out, and of the
            // last what ffmpeg's kernel has dropped.
            let (sent, kept) = (try MediaFile.packetDigests(clip.file(), of: "a"), try MediaFile.packetDigests(playlist, of: "a"))
            #expect(kept.count >= sent.count - 12)
            #expect((0...10).contains { Array(sent.dropFirst($0).prefix(kept.count)) == kept })
            #expect(try MediaFile.steps(playlist, stream: "a:0").allSatisfy { abs($0 - 1_024.0 / 48_000) < 0.001 })
            try expectHLS(folder, codecs: "avc1.42")
        }

        @Test(.timeLimit(.minutes(10)), arguments: [(48_000, 2), (44_100, 1)])
        func `flash and beep stay within 40 ms`(sampleRate: Int, channels: Int) throws {
            let clip = Clip.flashAndBeep(sampleRate: sampleRate, channels: channels)
            let folder = RecordingFolder()
            _ = try recorded(into: folder) { try Encoder.ffmpeg(clip, to: $0.publishURL) }
            let (flashes, beeps) = try MediaFile.flashesAndBeeps(try #require(folder.playlists.first))
            #expect(flashes.count >= clip.seconds - 2)
            for flash in flashes where flash < Double(clip.seconds) - 0.5 {
                let beep = try #require(beeps.min { abs($0 - flash) < abs($1 - flash) })
                #expect(abs(beep - flash) < 0.04)
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `WHIP's pictures and its Opus are recorded`() throws {
            let folder = RecordingFolder()
            let gateway = try Gateway(configuration: folder.setting)
            let client = try WHIPClient.aiortc(gateway, seconds: 10)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output)")
            expect("it is over\n\(gateway.log.suffix(2_000))", within: .seconds(60)) { folder.hasEnded(1) }
            gateway.stop()
            let playlist = try #require(folder.playlists.first)
            #expect(try MediaFile.frameDigests(playlist).count > 30)
            #expect(try MediaFile.decodedSounds(playlist) > 100)
            try expectHLS(folder, codecs: "avc1.42", "opus")
        }

        @Test(.timeLimit(.minutes(10)))
        func `what was journalled before a kill -9 plays after the next start, which ends it`() throws {
            let folder = RecordingFolder()
            let gateway = try Gateway(configuration: folder.setting)
            let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL)
            // In the second segment.
            expect("a segment and a part\n\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                folder.segments == 1 && Self.journalled(in: gateway.data) >= 3
            }
            gateway.kill()
            encoder.kill()
            let journalled = Self.journalled(in: gateway.data)
            #expect(folder.hasEnded(1) == false)
            let next = try Gateway(configuration: folder.setting, data: gateway.data)
            expect("it is ended\n\(next.log.suffix(2_000))", within: .seconds(60)) { folder.hasEnded(1) }
            next.stop()
            let frames = try MediaFile.frameDigests(try #require(folder.playlists.first))
            #expect(frames.count >= journalled * 29)
            #expect(try Array(MediaFile.frameDigests(Clip.long.file()).prefix(frames.count)) == frames)
            try expectHLS(folder, codecs: "avc1.42", "mp4a.40.2")
            #expect(try FileManager.default.contentsOfDirectory(atPath: next.data.path + "/spool").isEmpty)
        }

        /// Whole seconds of parts in the journals below a data directory.
        private static func journalled(in data: URL) -> Int {
            let spool = data.appending(path: "spool")
            let folders = (try? FileManager.default.contentsOfDirectory(atPath: spool.path)) ?? []
            let journals = folders.compactMap { try? String(contentsOf: spool.appending(path: "\($0)/journal"), encoding: .utf8) }
            return journals.reduce(0) { $0 + $1.split(separator: "\n").filter { $0.contains("\"nanoseconds\"") }.count }
        }

        /// Publishes by `encoder` until it ends, and waits for the end of the recording.
        private func recorded(
            into folder: RecordingFolder, by encoder: (Quickstart) throws -> ProgramRun
        ) throws -> Gateway {
            let gateway = try Gateway(configuration: folder.setting)
            let run = try encoder(gateway.quickstart)
            #expect(run.status(within: .seconds(300)) == 0, "\(run.output)")
            expect("it is over\n\(gateway.log.suffix(2_000))", within: .seconds(60)) { folder.hasEnded(1) }
            gateway.stop()
            return gateway
        }

        private func expectHLS(_ folder: RecordingFolder, codecs: String...) throws {
            let path = try #require(folder.playlists.first)
            let prefix = String(path.dropLast("/high/playlist.m3u8".count))
            let multivariant = try String(contentsOfFile: prefix + "/multivariant.m3u8", encoding: .utf8)
            for codec in codecs { #expect(multivariant.contains(codec), "\(multivariant)") }
            let playlist = try String(contentsOfFile: path, encoding: .utf8)
            #expect(playlist.hasSuffix("#EXT-X-ENDLIST\n") && playlist.contains("#EXT-X-PLAYLIST-TYPE:VOD"))
            for line in playlist.split(separator: "\n") where !line.hasPrefix("#") {
                #expect(FileManager.default.fileExists(atPath: "\(prefix)/high/\(line)"), "\(line)")
            }
        }
    }
}

/// A folder that a gateway records into.
struct RecordingFolder {
    let url = Workspace.temporaryFile(suffix: ".recordings")

    /// Lines of the configuration file.
    var setting: String { "recording: {directory: \"\(url.path)\"}" }

    /// Of all recordings, in the order of their names.
    var playlists: [String] {
        let files = FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []
        return files.filter { $0.hasSuffix("/media/hls/high/playlist.m3u8") }.sorted().map { "\(url.path)/\($0)" }
    }

    private var texts: [String] { playlists.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) } }

    /// That playlists name.
    var segments: Int { texts.reduce(0) { $0 + $1.split(separator: "\n").filter { $0.hasPrefix("#EXTINF:") }.count } }

    /// So many recordings are over, and no more.
    func hasEnded(_ count: Int) -> Bool { texts.count == count && texts.allSatisfy { $0.contains("#EXT-X-ENDLIST") } }
}

extension MediaFile {
    /// The MD5 of every packet of a stream, as it lies in the file.
    static func packetDigests(_ path: String, of stream: String) throws -> [String] {
        let output = try ProgramRun.output(
            of: [
                "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-i", path, "-map", "0:\(stream)", "-c", "copy", "-f",
                "framemd5", "-",
            ],
            within: .seconds(60))
        return output.split(separator: "\n").filter { $0.first?.isNumber == true }
            .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces) }
    }

    /// The times between the packets of a stream, in seconds.
    static func steps(_ path: String, stream: String) throws -> [Double] {
        let times = try steadyPacketTimes(path, stream: stream)
        return zip(times, times.dropFirst()).map { $1 - $0 }
    }
}
