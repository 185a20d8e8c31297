import Foundation
import Testing

extension Interop {
    /// Simulcast on its way out: every layer arrives, and is chosen where it arrives.
    @Suite struct LayersToRouters {
        enum Publisher: CaseIterable {
            case chromium, obs

            func publish(to gateway: Gateway, seconds: Int, options: [String] = []) throws -> ProgramRun {
                switch self {
                case .chromium: try Encoder.chromium(to: gateway, seconds: seconds)
                case .obs: try Encoder.simulcast(to: gateway, seconds: seconds, options: options)
                }
            }
        }

        private static func recorder() throws -> (router: StageRouter, folder: URL) {
            let folder = Workspace.temporaryFile(suffix: ".layers")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return (try StageRouter(["--record", folder.path]), folder)
        }

        @Test(.timeLimit(.minutes(10)), arguments: Publisher.allCases)
        func `every layer is decoded at a router written from the specification alone`(_ publisher: Publisher) throws {
            let (router, folder) = try Self.recorder()
            let gateway = try Gateway(routers: router.settings("r"))
            let encoder = try publisher.publish(to: gateway, seconds: Encoder.untilStopped)
            defer { encoder.kill() }
            func layers() throws -> [StageRouter.Layer] { try router.participants().values.first?.layers ?? [] }
            try expect("all layers are told, best first\n\(encoder.output)", within: .seconds(60)) {
                let layers = try layers()
                return layers.count == 3 && layers.allSatisfy { $0.active && $0.width > 0 }
                    && zip(layers, layers.dropFirst()).allSatisfy { $0.width > $1.width }
            }
            try expect("all layers come", within: .seconds(60)) {
                let tracks = try router.participants().values.first?.tracks.filter { $0.kind == "video" } ?? []
                return tracks.count == 3 && tracks.allSatisfy { $0.packets > 30 }
            }
            let participant = try #require(try router.participants().values.first)
            #expect(participant.foreign == 0 && participant.tracks.allSatisfy(\.isWhole), "\(participant.tracks)")
            for rid in ["hi", "mid", "low"] {
                #expect(try MediaFile.frameDigests(folder.appending(path: "\(rid).h264").path).count > 10, "\(rid)")
            }
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a router of one stream has the next layer when the best one dies, whole and in order`() throws {
            let (router, folder) = try Self.recorder()
            let gateway = try Gateway(routers: router.settings("r", more: "layers: top"))
            let encoder = try Publisher.obs.publish(to: gateway, seconds: Encoder.untilStopped, options: ["--rest", "0:15-"])
            defer { encoder.kill() }
            func video() throws -> StageRouter.Track? {
                try router.participants().values.first?.tracks.first { $0.kind == "video" }
            }
            let file = folder.appending(path: "None.h264").path
            expect("pictures of both sizes\n\(encoder.output)", within: .seconds(60)) {
                // Nothing can be read of it before the first keyframe.
                let output = try? ProgramRun.output(
                    of: [
                        "ffprobe", "-v", "quiet", "-select_streams", "v:0", "-show_entries", "frame=width", "-of", "csv=p=0",
                        file,
                    ],
                    within: .seconds(60))
                let widths = (output ?? "").split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
                return widths.first == 1280 && widths.last == 640 && widths == widths.sorted(by: >)
            }
            #expect(try #require(try video()).isWhole)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a viewer at Janus chooses between the layers`() throws {
            let janus = try JanusServer()
            let gateway = try Gateway(routers: "  j: {driver: janus, url: \"\(janus.url)\"}")
            let encoder = try Publisher.obs.publish(to: gateway, seconds: Encoder.untilStopped)
            defer { encoder.kill() }
            expect("it is announced\n\(encoder.output)", within: .seconds(60)) { gateway.log.contains("\"router_announced\"") }
            let mountpoint = try #require(try janus.mountpoints().first)
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/janus_viewer.py").path
            let viewer = try ProgramRun.output(
                of: [WHIP.python, script, janus.url, "\(mountpoint)", "8", "0:3200180", "1:6400360", "2:12800720"],
                within: .seconds(480))
            let seen = try JSONDecoder().decode(Seen.self, from: Data(viewer.utf8))
            #expect(seen.sizes == [12_800_720, 3_200_180, 6_400_360, 12_800_720], "\(viewer)")
            gateway.stop()
        }

        private struct Seen: Decodable {
            /// Width times 10,000 and height: of the best that there is, then of each layer that was chosen.
            var sizes: [Int]
        }
    }
}
