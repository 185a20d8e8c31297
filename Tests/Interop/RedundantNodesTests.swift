import Foundation
import Testing

extension Interop {
    /// Two encoders that are one participant, each at a node of its own.
    @Suite struct RedundantNodes {
        @Test(.timeLimit(.minutes(10)))
        func `the encoder at the other node goes on when its twin dies, and when its twin's node does`() throws {
            let router = try StageRouter()
            let platform = try Platform(2, routers: [router.settings("one"), router.settings("one")])
            let made = try platform.nodes[0].makeRedundantConfiguration()
            let joined = made.participantId
            var encoders = [try begin(1, made, at: platform.nodes[0])]
            try expect("the stage has the first one", within: .seconds(60)) { try platform.nodes[0].isLive(joined) }
            encoders.append(try begin(2, made, at: platform.nodes[1]))
            try expect("the other one waits", within: .seconds(60)) { try platform.nodes[1].isReady(joined) }
            let first = try seen(router, joined)

            encoders[0].kill()
            let died = ContinuousClock.now
            try expect("it goes on\n\(platform.nodes[1].log.suffix(3_000))", within: .seconds(60)) {
                try platform.nodes[1].isLive(joined) && seen(router, joined).generation > first.generation
            }
            print("an encoder died: the one at another node went on in \(ContinuousClock.now - died)")
            let second = try seen(router, joined)

            encoders[0] = try begin(1, made, at: platform.nodes[0])
            try expect("who comes back waits", within: .seconds(60)) { try platform.nodes[0].isReady(joined) }

            platform.nodes[1].kill()
            let ended = ContinuousClock.now
            try expect("the other node goes on\n\(platform.nodes[0].log.suffix(3_000))", within: .seconds(60)) {
                try platform.nodes[0].isLive(joined) && seen(router, joined).generation > second.generation
            }
            print("a node died: the encoder at another one went on in \(ContinuousClock.now - ended)")
            for encoder in encoders { encoder.kill() }
            platform.nodes[0].stop()
        }

        /// Both nodes go on with what they have for as long as they cannot be told otherwise; routers go by the generation.
        @Test(.timeLimit(.minutes(10)))
        func `a node that is cut off its servers brings nothing to the leg of the one that went on`() throws {
            let router = try StageRouter()
            let platform = try Platform(2, routers: [router.settings("one"), router.settings("one")], canBeCut: true)
            let made = try platform.nodes[0].makeRedundantConfiguration()
            let joined = made.participantId
            let feeds = try [false, true].map { try Feed(.redundant, isMarked: $0) }
            var encoders = [try begin(1, made, feeds[0], at: platform.nodes[0])]
            try expect("the stage has the first one", within: .seconds(60)) { try platform.nodes[0].isLive(joined) }
            encoders.append(try begin(2, made, feeds[1], at: platform.nodes[1]))
            for cut in [0, 1] {
                let (one, other) = (platform.nodes[cut], platform.nodes[1 - cut])
                try expect("the other one waits\n\(other.log.suffix(3_000))", within: .seconds(60)) { try other.isReady(joined) }
                let before = try seen(router, joined)
                platform.cut(cut)
                try expect("it goes on\n\(other.log.suffix(3_000))", within: .seconds(60)) {
                    try other.isLive(joined) && seen(router, joined).generation > before.generation
                }
                // Routers are told every five seconds who is where, and leases end after ten.
                letPass(.seconds(15))
                #expect(try one.isLive(joined), "it does not know")
                platform.mend(cut)
                try expect("exactly one goes on\n\(one.log.suffix(3_000))", within: .seconds(60)) {
                    try one.isReady(joined) && !one.isLive(joined) && other.isLive(joined)
                }
                let after = try seen(router, joined)
                #expect(after.foreign == 0 && after.turns == [], "pictures of one encoder alone: \(after)")
                #expect(after.generations?.count == cut + 2, "\(after)")
            }
            for encoder in encoders { encoder.kill() }
            platform.stop()
        }

        private func begin(_ number: Int, _ made: RedundantConfiguration, at node: Gateway) throws -> ProgramRun {
            try Encoder.ffmpeg(
                .redundant, to: "\(node.quickstart.rtmpURL)/\(made.streamKey(number))", seconds: Encoder.untilStopped)
        }

        private func begin(_ number: Int, _ made: RedundantConfiguration, _ feed: Feed, at node: Gateway) throws -> ProgramRun {
            try ProgramRun(Encoder.line(feed, to: "\(node.quickstart.rtmpURL)/\(made.streamKey(number))"))
        }

        /// What the router has of the participant: once it has pictures of it, and none that were not announced.
        private func seen(_ router: StageRouter, _ participant: String) throws -> StageRouter.Participant {
            let found = try router.only(participant)
            #expect(found.backwards == 0 && found.tracks.allSatisfy { $0.packets == 0 || $0.isWhole }, "\(found)")
            return found
        }
    }
}

extension Gateway {
    /// Whether the stage gets the participant from this node.
    fileprivate func isLive(_ participant: String) throws -> Bool {
        guard let status = try redundancy(of: participant) else { return false }
        return status.state == "live" && status.source != nil
    }

    /// Whether its encoder here may go on at any moment.
    fileprivate func isReady(_ participant: String) throws -> Bool {
        guard let status = try redundancy(of: participant) else { return false }
        return status.encoders.count == 1 && status.encoders.allSatisfy { $0.ready && $0.health == "well" }
    }
}
