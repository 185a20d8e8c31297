import Foundation
import TestSupport
import Testing

/// A gateway whose stage has one participant of two encoders, each behind a way of its own that may break.
final class RedundantPair {
    enum Fault: CaseIterable {
        case kill, stop, reset, order, breach
        /// Not everybody makes networks.
        case link

        static let possible = allCases.filter { $0 != .link || Privileges.makesNetworks }
    }

    let gateway: Gateway
    /// What the stage sees.
    let joined: String
    /// Of the encoders themselves.
    let participants: [String]
    var encoders: [Int: ProgramRun] = [:]
    private let clips: [Clip]
    private let keys: [String]
    private var ways: [Int: BreakingWay] = [:]
    private var feeds: [Int: Feed] = [:]
    /// Where each encoder's network can be taken away.
    private var cables: [Int: Cable] = [:]
    private var beginnings = 0

    /// - Parameters:
    ///   - clips: what encoders 1 and 2 bring, from now on; none where a test starts them itself.
    ///   - router: where the stage goes, in place of quickstart's receivers.
    init(_ clips: [Clip] = [.redundant, .redundant], to router: StageRouter? = nil) throws {
        let gateway = try Gateway(routers: router.map { $0.settings("a") + "  embedded: {driver: embedded}\n" })
        let made = try gateway.makeRedundantConfiguration()
        (self.gateway, self.clips, joined) = (gateway, clips, made.participantId)
        keys = [made.streamKey(1), made.streamKey(2)]
        participants = made.redundantIngestCredentials.map(\.participantId)
        let port = try #require(URLComponents(string: gateway.quickstart.rtmpURL)?.port)
        for number in [1, 2] {
            if Privileges.makesNetworks, clips.indices.contains(number - 1) { cables[number] = try Cable() }
            ways[number] = try BreakingWay(to: port, at: near(number))
        }
        for number in clips.indices { try begin(number + 1) }
    }

    /// This machine's address for that encoder.
    private func near(_ number: Int) -> String { cables[number]?.near ?? "127.0.0.1" }

    func url(_ number: Int) -> String {
        "rtmp://\(near(number)):\(ways[number]?.port ?? 0)/app/\(keys[number - 1])"
    }

    /// An encoder of its own clip, which is another one than before: who broke the contract three times is not let in for a
    /// while, until something has been changed.
    func begin(_ number: Int) throws {
        let feed = try Feed(clips[number - 1], isMarked: number == 2)
        feeds[number] = feed
        beginnings += 1
        let line = Encoder.line(feed, to: url(number), ["-rtmp_flashver", "FMLE/3.0 (compatible; \(beginnings))"])
        encoders[number] = try ProgramRun(cables[number]?.command(line) ?? line)
    }

    var status: RedundantStatus? { get throws { try gateway.redundancy(of: joined) } }
    var source: Int? { get throws { try status?.source } }
    var logTail: String { String(gateway.log.suffix(4_000)) }

    /// A change of the source, as the gateway tells of it.
    struct Switch {
        var reason: String
        /// For how many milliseconds nothing was sent.
        var gap: Int
    }

    /// Every one but the first source's.
    var switches: [Switch] {
        gateway.log.matches(of: /"redundant_source".*"reason":"(\w+)".*"gap_ms":(\d+)/)
            .map { Switch(reason: String($0.1), gap: Int($0.2) ?? 0) }.filter { $0.reason != "begin" }
    }

    /// Both bring media, one of them to the stage, and the other one may go on at any moment.
    func awaitBoth() {
        expect("both bring media\n\(logTail)", within: .seconds(120)) {
            guard let status = try? status, status.source != nil, status.encoders.count == 2 else { return false }
            return status.encoders.allSatisfy { $0.ready && $0.health == "well" }
        }
    }

    func lose(_ number: Int, by fault: Fault) throws {
        switch fault {
        case .kill: encoders[number]?.kill()
        case .stop: encoders[number]?.send(SIGSTOP)
        case .reset: ways[number]?.reset()
        case .order: try order(3 - number)
        case .breach: feeds[number]?.breach()
        case .link: try cables[number]?.set("down")
        }
    }

    /// This encoder is to be the source; refused while it is not there.
    func order(_ number: Int) throws {
        let body = ["-H", "Content-Type: application/json", "--data", "{\"encoder\":\(number)}"]
        _ = try gateway.signed("v1/participants/\(joined)/source", body)
    }

    func restore(_ number: Int, after fault: Fault) throws {
        switch fault {
        case .kill, .reset, .breach:
            encoders[number]?.kill()
            try begin(number)
        case .stop: encoders[number]?.send(SIGCONT)
        case .order: break
        case .link: try cables[number]?.set("up")
        }
    }

    /// Loses the source by a fault, with both there, and returns once the other one is it.
    /// - Returns: who was the source.
    @discardableResult
    func change(by fault: Fault) throws -> Int {
        awaitBoth()
        let victim = try #require(try source)
        try lose(victim, by: fault)
        try expect("the other one is the source after \(fault)\n\(logTail)", within: .seconds(60)) {
            if try source == 3 - victim { return true }
            // Refused while the other one is late, as on a busy machine.
            if fault == .order { try lose(victim, by: fault) }
            return false
        }
        return victim
    }

    /// A receiver of what the stage gets of the two, as soon as it gets something.
    func capture() throws -> Capture {
        let description = gateway.data.appending(path: "sdp/\(joined).sdp")
        expect("a publish\n\(logTail)", within: .seconds(60)) { FileManager.default.fileExists(atPath: description.path) }
        return try Capture(description)
    }

    /// A viewer of the participant that the two are, until it is interrupted; returns once it has a picture.
    func watch() throws -> ProgramRun {
        let url = try #require(gateway.quickstart.whipURL).replacing(
            /\/whip$/, with: "/whep/\(try #require(gateway.quickstart.stageId))/\(joined)")
        let viewer = try ProgramRun([
            "env", "PICTURE=1", Interop.WHIP.python, Interop.WHIP.script("aiortc_whep.py"), "3600",
            try #require(gateway.quickstart.whipToken), url,
        ])
        expect("it watches\n\(viewer.output)", within: .seconds(60)) { viewer.output.contains("first picture") }
        return viewer
    }
}

extension StageRouter {
    /// What it has of a participant, who is the only one: once it has pictures of it.
    func only(_ participant: String) throws -> Participant {
        var seen: Participant?
        try expect("the router has it, and nobody else", within: .seconds(60)) {
            let participants = try participants()
            seen = participants[participant]
            return seen?.pictures ?? 0 > 0 && participants.count == 1
        }
        return try #require(seen)
    }
}
