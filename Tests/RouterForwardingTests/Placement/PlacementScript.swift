import Admission
import StageHub
import Wire

@testable import RouterForwarding

/// A `PlacementMachine` on a clock of the test's, told what happens in a table's words; what it wants done is read as lines.
///
/// Routers a, b, c, ranked so for stage `s`. The clocks begin at one second, and at 5,000 ms.
struct PlacementScript {
    enum Input {
        /// A publication of participant `p` begins, or of another one.
        case start(String = "p", lease: UInt64 = 1)
        case end(String = "p", WithdrawalReason = .unpublished)
        case mute(String = "p")
        case addAudio(String = "p")
        /// One more encoding of its video shows up than there were.
        case addLayer(String = "p")
        /// The answer to the latest look, or to the latest one of another slot than `p/0`.
        case record(PlacementRecord?, of: String = "p/0", isOurs: Bool = true)
        case moved(PlacementAnswer, of: String = "p/0")
        /// The answers to the announce of that generation.
        case plan(UInt64, isLayerless: Bool = false)
        case failure(AnnounceFailure, UInt64)
        case check(Bool, String)
        case lost([String], String)
        case feedback
        case pass(Duration)
    }

    private(set) var machine: PlacementMachine
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private var serial: UInt64 = 0
    private var publications: [String: (id: ForwardingID, announcement: Announcement)] = [:]
    private var questions: [String: PlacementQuestion] = [:]
    private var announces: [UInt64: PlacementAnnounce] = [:]

    init(replicas: Int = 1) {
        machine = PlacementMachine(routers: ["a": true, "b": true, "c": true], replicas: replicas, now: now)
    }

    private var wall: WallTime { WallTime(nanosecondsSince1970: now.nanoseconds + 4_000_000_000) }

    /// - Returns: what is to be done; without the regular checks and leases, which have tests of their own.
    mutating func run(_ input: Input) -> [String] {
        let actions = feed(input)
        for action in actions { note(action) }
        return actions.map(Self.line).filter { !$0.hasPrefix("check") && !$0.hasPrefix("lease") }
    }

    private mutating func feed(_ input: Input) -> [PlacementAction] {
        switch input {
        case .start(let participant, let lease): return start(participant, lease)
        case .end(let participant, let reason): return machine.ended(publications[participant]!.id, reason, now)
        case .mute(let participant): return change(participant) { $0.muted = [.video] }
        case .addAudio(let participant): return change(participant) { $0.formats[.audio] = .opus(isStereo: true) }
        case .addLayer(let participant): return change(participant) { $0.addLayer() }
        case .record(let record, let slot, let isOurs):
            return machine.looked(questions[slot]!, record, now, wall: wall) { _ in isOurs }
        case .moved(let answer, let slot): return machine.moved(questions[slot]!, answer, now)
        case .plan(let generation, let isLayerless):
            var plan = LegPlan(cname: "", tracks: [])
            plan.isLayerless = isLayerless
            return machine.answered(announces[generation]!, .success(plan), now)
        case .failure(let failure, let generation):
            return machine.answered(announces[generation]!, .failure(failure), now)
        case .check(let isGood, let router): return machine.checked(isGood, router, now)
        case .lost(let participants, let router):
            return machine.lost(participants.map { ParticipantKey($0, onStage: "s") }, router)
        case .feedback:
            machine.feedbackCame(of: PlacementSlot(id: publications["p"]!.id, replica: 0), at: now)
            return []
        case .pass(let duration):
            now = now + duration
            return machine.timePassed(now)
        }
    }

    private mutating func start(_ participant: String, _ lease: UInt64) -> [PlacementAction] {
        serial += 1
        let id = ForwardingID(participant: ParticipantKey(participant, onStage: "s"), serial: serial)
        let announcement = Announcement.of(participant, stage: "s", generation: lease)
        publications[participant] = (id, announcement)
        return machine.started(id, announcement)
    }

    private mutating func change(_ participant: String, _ change: (inout Announcement) -> Void) -> [PlacementAction] {
        change(&publications[participant]!.announcement)
        return machine.changed(publications[participant]!.id, publications[participant]!.announcement)
    }

    private mutating func note(_ action: PlacementAction) {
        switch action {
        case .look(let question, _), .move(let question, _, _, _): questions[Self.name(question.slot)] = question
        case .announce(let announce): announces[announce.announcement.generation] = announce
        default: break
        }
    }
}

extension PlacementScript {
    /// One action in short.
    static func line(_ action: PlacementAction) -> String {
        switch action {
        case .look(let question, _): "look \(name(question.slot))"
        case .move(let question, _, let from, let to): "move \(name(question.slot)) \(from.map(name) ?? "nil")>\(name(to))"
        case .announce(let announce):
            "announce \(name(announce.slot)) \(announce.router) \(announce.announcement.generation)"
        case .update(let announcement, let router): "update \(announcement.participantID) \(router) \(announcement.generation)"
        case .withdraw(let announcement, let router, let reason):
            "withdraw \(announcement.participantID) \(router) \(announcement.generation) \(reason)"
        case .checkHealth(let router): "check \(router)"
        case .renewLease(let router, let held): "lease \(router) \(held.map { "\($0.participantID) \($0.generation)" })"
        case .open(let slot, _): "open \(name(slot))"
        case .close(let slot): "close \(name(slot))"
        case .tell(let story): name(story)
        case .availabilityChanged(let isAvailable): isAvailable ? "available" : "unavailable"
        }
    }

    private static func name(_ slot: PlacementSlot) -> String { "\(slot.id.participant.participantID)/\(slot.replica)" }
    private static func name(_ record: PlacementRecord) -> String { "\(record.router)\(record.generation)" }

    private static func name(_ story: RouterControl.Story) -> String {
        switch story {
        case .announced(let participant, let router, _): "announced \(participant) \(router)"
        case .announceFailed(let participant, let router, _): "failed \(participant) \(router)"
        case .died(let router): "died \(router)"
        case .returned(let router): "returned \(router)"
        case .noRouter(let stage): "no router \(stage)"
        case .lost(let participant, let router): "lost \(participant) \(router)"
        }
    }
}

extension Announcement {
    /// Of a participant with video alone.
    static func of(_ participant: String, stage: String, generation: UInt64) -> Announcement {
        Announcement(
            grant: PublishGrant(participantID: participant, stageARN: "arn:" + stage, stageID: stage, credentialHash: ""),
            sessionID: "st", generation: generation, ingestProtocol: .whip, acceptsKeyframeRequests: true,
            formats: [.video: .h264Offered(profileLevelID: "42e01f")], source: SocketAddress(.loopback, port: 9))
    }

    /// One encoding is none; two are.
    fileprivate mutating func addLayer() {
        let places = layers.isEmpty ? 0...1 : 2...2 as ClosedRange<UInt8>
        layers += zip(places, [layers.isEmpty ? LayerName.hi : .mid, .low]).map {
            AnnouncedLayer(TrackID(.video, layer: $0), rid: $1)
        }
    }
}
