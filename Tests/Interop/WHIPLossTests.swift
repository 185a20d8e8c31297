import Foundation
import Testing

extension Interop {
    /// Loss between an OBS-shaped publisher and the real program: what requests bring back, how soon, and whether the program's
    /// account is that of the way.
    @Suite struct WHIPLoss {
        /// Percent dropped and reordered each, in both directions, and how many of a thousand must be there in the end; where
        /// time may be judged, 500 ms after their first transmission; else 980, since a busy machine repeats some too late.
        static let links: [(percent: UInt64, perMille: Int)] = [(1, 999), (5, 995), (10, 990)]

        /// All three ways at once: 2.5 Mbit/s for 9 s, the last second without loss, so that every account is closed.
        @Test(.timeLimit(.minutes(10)))
        func `requests bring back what the way drops, and the account of it is right`() throws {
            let publishes = try Self.links.map { try LossyPublish(percent: $0.percent) }
            let senders = try publishes.map { try $0.start() }
            Self.turn(publishes, until: .now + .seconds(120)) { !senders.contains(where: \.isRunning) }
            // The last packets leave within 500 ms.
            Self.turn(publishes, until: .now + .milliseconds(700)) { false }
            for ((publish, sender), link) in zip(zip(publishes, senders), Self.links) {
                #expect(sender.status(within: .seconds(60)) == 0, "\(sender.output)")
                try publish.check(perMille: Soak.isAsked ? link.perMille : 980)
                publish.gateway.stop()
            }
        }

        /// Nobody passes anything on but in here.
        private static func turn(
            _ publishes: [LossyPublish], until end: ContinuousClock.Instant, or isOver: () -> Bool
        ) {
            while ContinuousClock.now < end, !isOver() {
                LossyPath.turn(publishes.map(\.path))
                for publish in publishes { publish.setLoss() }
            }
        }
    }
}

/// One publisher, its lossy way, and a gateway that advertises the way's near end.
private final class LossyPublish {
    let gateway: Gateway
    let path: LossyPath
    private let percent: UInt64
    private static let patience: Duration = Soak.isAsked ? .milliseconds(500) : .seconds(60)

    init(percent: UInt64) throws {
        self.percent = percent
        let front = try DatagramSocket()
        gateway = try Gateway(configuration: "advertise: {addresses: [127.0.0.1], mediaPort: \(front.port)}")
        path = try LossyPath(
            front: front, server: gateway.mediaPort, router: RouterEnd(firstPort: gateway.routerPorts.lowerBound + 4),
            seed: percent)
    }

    /// Once somebody turns the path: a sender that nobody answers gives up.
    func start() throws -> ProgramRun {
        try ProgramRun([
            try Workspace.program("stagedoor-bench"), "whip", try #require(gateway.quickstart.whipURL), "--token",
            try #require(gateway.quickstart.whipToken), "--flv", try Clip.full.file(), "--seconds", "9", "--paced",
        ])
    }

    /// Between the 100th packet and the last second.
    func setLoss() {
        let count = path.video.order.count
        guard count > 100, let first = path.video.order.first, let begin = path.video.sent[first] else { return }
        path.percent = ContinuousClock.now - begin < .seconds(8) ? percent : 0
    }

    func check(perMille: Int) throws {
        let (video, audio) = (path.video, path.audio)
        let comment: Comment = "\(percent) %: \(video.order.count) sent, \(video.dropped) dropped, \(audio.dropped) of audio"
        #expect(video.order.count > 1_500 && video.dropped > 0, comment)
        #expect(video.arrived(within: Self.patience) * 1_000 >= video.order.count * perMille, comment)
        try expect("its account", within: .seconds(60)) { try !gateway.endedSessions().isEmpty }
        let media = try #require(try gateway.endedSessions().first).media
        // What was overtaken and asked for a moment too soon may count as brought back, what comes too late as lost.
        let slack = max(2, video.dropped / (Soak.isAsked ? 20 : 5))
        #expect(abs(media.video.recovered + media.video.lost - video.dropped) <= slack, "\(media) \(comment)")
        // What the kernels of a busy machine drop, and whom the test lets wait, is no loss of the way's.
        let exact = Soak.isAsked ? 0 : slack
        #expect(abs(media.video.packets + media.video.lost - video.order.count) <= exact, "\(media) \(comment)")
        // Nobody offers NACK for Opus: what is lost stays lost, and what was overtaken is not.
        let passed = audio.order.count - audio.dropped
        #expect(
            abs(media.audio.lost - audio.dropped) <= exact && abs(media.audio.packets - passed) <= exact, "\(media) \(comment)")
        #expect(abs(audio.arrived(within: Self.patience) - passed) <= exact, comment)
        let metrics = try gateway.admin("metrics")
        #expect(Gateway.sample("stagedoor_nack_recovered_total", in: metrics) == media.video.recovered)
        let lost = Int(Metrics(metrics).sum("stagedoor_rx_lost_packets_total"))
        #expect(abs(lost - media.video.lost - media.audio.lost) <= slack, "\(lost) \(media)")
    }
}
