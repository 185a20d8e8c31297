import Foundation
import Testing

extension Interop {
    /// Meetecho's client on GStreamer's webrtcbin: its offer holds no candidate, each comes by PATCH.
    @Suite(.enabled(if: Forky.isAsked, Forky.reason)) struct SimpleWHIPClient {
        static let seconds = 12

        @Test(.timeLimit(.minutes(10)))
        func `trickles its candidates by PATCH and its media arrives`() throws {
            let network = try NetworkNamespace()
            let gateway = try Gateway(in: network)
            let capture = try gateway.captureFirstWHIP()
            let encoder = try Self.publish(to: gateway.quickstart, in: network)
            try gateway.awaitWHIP(pictures: Double(Self.seconds * 30), sounds: Double(Self.seconds * 50), from: encoder)
            encoder.interrupt()
            capture.finish()
            // Candidates, and then their end.
            let trickled = encoder.output.components(separatedBy: "> PATCH /whip/sessions/").dropFirst()
            #expect(trickled.count >= 2, "\(encoder.output.suffix(4_000))")
            for exchange in trickled { #expect(exchange.firstMatch(of: /HTTP\/1\.1 (\d+)/)?.1 == "204", "\(exchange)") }
            let frames = try MediaFile.frameDigests(capture.file.path).count
            print("simple-whip-client: \(frames) frames in \(Self.seconds) s")
            #expect(frames >= (Self.seconds - 3) * 30, "\(encoder.output.suffix(4_000))\n\(gateway.log.suffix(4_000))")
            let audio = try MediaFile.steadyPacketTimes(capture.file.path, stream: "a:0")
            #expect(audio.count >= (Self.seconds - 3) * 50)
            gateway.stop()
        }

        private static let video = """
            videotestsrc is-live=true pattern=ball ! video/x-raw,width=640,height=360,framerate=30/1 ! videoconvert ! queue ! \
            x264enc tune=zerolatency speed-preset=ultrafast bitrate=800 key-int-max=60 ! \
            video/x-h264,profile=constrained-baseline ! \
            rtph264pay pt=96 ssrc=2 config-interval=-1 aggregate-mode=zero-latency ! queue ! \
            application/x-rtp,media=video,encoding-name=H264,payload=96,packetization-mode=(string)1
            """
        private static let audio = """
            audiotestsrc is-live=true wave=red-noise ! audioconvert ! audioresample ! queue ! opusenc ! \
            rtpopuspay pt=100 ssrc=1 ! queue ! application/x-rtp,media=audio,encoding-name=OPUS,payload=100
            """

        private static func publish(to quickstart: Quickstart, in network: NetworkNamespace) throws -> ProgramRun {
            let line = [
                "whip-client", "-u", try #require(quickstart.whipURL), "-t", try #require(quickstart.whipToken), "-A", audio,
                "-V",
                video, "-l", "6", "-o", "-H", "headers",
            ]
            return try ProgramRun(network.command(Forky.command(line)))
        }
    }
}
