import Foundation
import Testing

extension Interop {
    /// Recordings in stores that nobody here wrote, and what becomes of them when a store fails.
    @Suite struct RecordedStore {
        @Test(.timeLimit(.minutes(10)))
        func `every frame comes into OpenStack Swift, which checks every signature`() throws {
            let store = try ObjectStore(.openstack)
            let gateway = try Gateway(
                configuration: "storage: {\(store.entry()), others: {\(Self.members(of: store.entry(secret: "another")))}}")
            let refused = try gateway.makeStorageConfiguration("others")
            #expect(refused.contains("403 SignatureDoesNotMatch"), "\(refused)")
            let folder = try Self.record(.long, at: gateway, into: store)
            try MediaFile.expectFrames(
                of: Clip.long.file(), in: try #require(folder.playlists.first), saidGoodbye: gateway.heardGoodbyes)
            try folder.expectHLS(codecs: "avc1.42", "mp4a.40.2")
            #expect(!gateway.log.contains(ObjectStore.secretKey) && !gateway.log.contains("\"another\""))
        }

        @Test(.timeLimit(.minutes(10)))
        func `nothing is lost while the store hangs and then is away in mid-recording`() throws {
            try Self.outlive(absence: .zero, of: .long)
        }

        @Test(.timeLimit(.minutes(10)))
        func `a bucket that is removed in mid-recording ends it in words, and the stream goes on`() throws {
            let store = try ObjectStore(.moto())
            let gateway = try Gateway(configuration: store.setting)
            try gateway.recordDemoStage(into: ObjectStore.bucket, window: 0)
            let streams = try WatchedStreams(.rtmp, of: .long, at: gateway)
            try expect("it records\n\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                try store.objects().folder.segments >= 2
            }
            try store.removeBucket()
            // What has taken something may refuse for a minute.
            expect("it failed\n\(gateway.log.suffix(2_000))", within: .seconds(120)) {
                gateway.log.contains("\"recording_failed\"")
            }
            let line = try #require(gateway.log.split(separator: "\n").first { $0.contains("\"recording_failed\"") })
            #expect(line.contains("404 NoSuchBucket"), "\(line)")
            let told = try gateway.events { $0.contains { $0.name == "Recording End Failure" } }.map(\.name)
            #expect(told.count { $0 == "Recording Start" } == 1 && told.count { $0 == "Recording End Failure" } == 1, "\(told)")
            #expect(!told.contains("Recording End"), "\(told)")
            let before = try gateway.metrics().sum("stagedoor_forward_packets_total")
            try expect("the stream goes on", within: .seconds(60)) {
                try gateway.metrics().sum("stagedoor_forward_packets_total") > before + 100
            }
            try streams.expectWhole()
            gateway.expectFewLines()
            gateway.stop()
            let left = try FileManager.default.subpathsOfDirectory(atPath: gateway.data.path + "/spool")
            #expect(left.contains { $0.hasSuffix(".mp4") } && left.contains { $0.hasSuffix("/journal") }, "\(left)")
        }

        /// Has a clip recorded while OpenStack Swift first hangs and then is gone: all of it is there in the end, in order.
        /// - Parameter absence: how long it is gone, at least; two segments are made meanwhile.
        static func outlive(absence: Duration, of clip: Clip) throws {
            let store = try ObjectStore(.openstack)
            let gateway = try Gateway(configuration: store.setting)
            let folder = try record(clip, at: gateway, into: store) {
                try expect("it is stored\n\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                    try gateway.storedObjects() >= 4
                }
                store.hang()
                let spooled = gateway.spooledSegments
                expect("a segment waits\n\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                    gateway.spooledSegments > spooled
                }
                store.leave()
                expect("it is missed\n\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                    gateway.log.contains("\"upload_failed\"") && gateway.spooledSegments > spooled + 2
                }
                letPass(absence)
                try store.comeBack()
            }
            try MediaFile.expectFrames(
                of: clip.file(), in: try #require(folder.playlists.first), saidGoodbye: gateway.heardGoodbyes)
            try folder.expectHLS()
            #expect(try !String(contentsOfFile: folder.playlists[0], encoding: .utf8).contains("DISCONTINUITY"))
            try expectOrder(store)
        }

        /// Segments were stored one after the other, and the playlist that names them last.
        private static func expectOrder(_ store: ObjectStore) throws {
            let objects = try store.objects().objects
            let playlist = try #require(objects.first { $0.key.hasSuffix("/playlist.m3u8") })
            let place = playlist.key.dropLast("playlist.m3u8".count)
            let segments = (1...objects.count).compactMap { objects["\(place)\($0).mp4"]?.modified }
            #expect(segments.count > 3 && segments == segments.sorted())
            #expect(segments.allSatisfy { $0 <= playlist.value.modified })
        }

        /// Publishes a clip onto the recorded demo stage by ffmpeg, waits for the recording's end, and reads what the bucket has.
        /// - Parameter meanwhile: called once it publishes.
        private static func record(
            _ clip: Clip, at gateway: Gateway, into store: ObjectStore, meanwhile: () throws -> Void = {}
        ) throws -> RecordingFolder {
            try gateway.recordDemoStage(into: ObjectStore.bucket, window: 0)
            let encoder = try Encoder.ffmpeg(clip, to: gateway.quickstart.publishURL)
            try meanwhile()
            #expect(encoder.status(within: .seconds(clip.seconds + 60)) == 0, "\(encoder.output)")
            let told = try gateway.events { $0.contains { $0.name.hasPrefix("Recording End") } }.map(\.name)
            #expect(told.count { $0 == "Recording Start" } == 1 && told.count { $0 == "Recording End" } == 1, "\(told)")
            gateway.expectFewLines()
            gateway.stop()
            return try store.objects().folder
        }

        /// What stands between an entry's braces.
        private static func members(of entry: String) -> String {
            String(entry.drop { $0 != "{" }.dropFirst().dropLast())
        }
    }
}

extension Gateway {
    /// Objects that a bucket has taken since the start.
    func storedObjects() throws -> Int {
        Int(try metrics().sum("stagedoor_uploads_total", "result=\"stored\""))
    }

    /// Segments that lie in the spool.
    var spooledSegments: Int {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: data.path + "/spool")) ?? []
        return paths.count { $0.hasSuffix(".mp4") && !$0.contains("init-") }
    }

    /// Whatever fails goes into the log once a second, for each recording and event, at most.
    /// - Parameter event: the one that is looked for; nil for all of recordings and uploads.
    func expectFewLines(of event: String? = nil, recordings: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) {
        struct Line: Decodable { var time, event: String }
        let lines = log.split(separator: "\n").compactMap { try? JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        let storing = lines.filter { line in
            event.map { line.event == $0 } ?? (line.event.hasPrefix("recording") || line.event.hasPrefix("upload"))
        }
        for (line, times) in Dictionary(grouping: storing, by: { "\($0.time.prefix(19)) \($0.event)" }) {
            #expect(times.count <= recordings, "\(line)", sourceLocation: sourceLocation)
        }
    }
}
