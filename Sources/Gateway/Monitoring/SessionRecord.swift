public import Admission
import EventLoop
public import JSON
import MediaContract
public import Refusals
import Settings
public import StageHub
public import Wire

/// One publish from its grant to its end, as every thread may see it: who it is, its story, and its counters.
public final class SessionRecord: Sendable {
    public let origin: PublishOrigin
    public let grant: PublishGrant
    public let lease: PublishLease
    public let ingestProtocol: IngestProtocol
    public let counters: PublishCounters
    /// Nil where nobody looks.
    let contract: ContractStanding?
    public let began: WallTime
    private let content: Lock<Content>

    private struct Content {
        var steps: [PublishStep]
        /// When tracks fell silent and went on: the latest ones.
        var mutes: [PublishStep] = []
        var warnings: [SessionWarning] = []
        var layers: [VideoLayer] = []
        /// The latest ones.
        var switches: [SourceSwitch] = []
        var hasStarted = false
        var ending: SessionEnding?
    }

    init(_ publication: Publication, _ contract: ContractStanding?, origin: PublishOrigin, began: WallTime) {
        (self.contract, self.origin, self.began) = (contract, origin, began)
        (grant, lease, ingestProtocol) = (publication.grant, publication.lease, publication.ingestProtocol)
        counters = publication.counters
        content = Lock(Content(steps: origin.steps + [PublishStep("granted", at: began)]))
    }

    public var id: String { origin.sessionID }
    /// Its media came by a connection of its own: it is none that two encoders are together, and no replica of another stage's.
    var isConnection: Bool { grant.redundancy != .joined && grant.replica == nil }
    /// The stage sees it: it is none of two encoders that are one.
    public var isOnStage: Bool { if case .encoder = grant.redundancy { false } else { true } }
    /// The stage sees it, and enough media has come for a PUBLISH_STARTED: metrics count it from then on.
    var isPublishing: Bool { isOnStage && content.withLock { $0.hasStarted } }
    /// In the order of time.
    public var steps: [PublishStep] {
        content.withLock { content in (content.steps + content.mutes).sorted { $0.time < $1.time } }
    }
    /// When tracks fell silent and went on: the latest ones, which stand among the steps.
    public var mutes: [PublishStep] { content.withLock { $0.mutes } }
    /// By the time they first came.
    public var warnings: [SessionWarning] { content.withLock { $0.warnings } }
    /// Of its video, best first, as the publication last told of them; their rates are in samples.
    var layers: [VideoLayer] { content.withLock { $0.layers } }
    /// What its encoder told of its frames.
    var encoder: EncoderFigures { contract?.encoder ?? EncoderFigures() }
    /// Nil while it is live.
    public var ending: SessionEnding? { content.withLock { $0.ending } }

    /// Notes a step the first time it happens.
    func note(_ name: String, at time: WallTime) {
        content.withLock { content in
            guard content.steps.count < Self.maximumSteps, !content.steps.contains(where: { $0.name == name }) else { return }
            content.steps.append(PublishStep(name, at: time))
        }
    }

    /// Notes that a track fell silent or went on, every time; the oldest are forgotten.
    func noteMute(_ name: String, at time: WallTime) {
        content.withLock { content in
            if content.mutes.count >= Self.maximumMutes { content.mutes.removeFirst() }
            content.mutes.append(PublishStep(name, at: time))
        }
    }

    /// Notes a warning; one of the same rule is replaced and counted.
    func note(_ warning: SessionWarning) {
        content.withLock { content in
            if let index = content.warnings.firstIndex(where: { $0.rule == warning.rule }) {
                let count = content.warnings[index].count + 1
                content.warnings[index] = warning
                content.warnings[index].count = count
            } else if content.warnings.count < Self.maximumWarnings {
                content.warnings.append(warning)
            }
        }
    }

    /// Notes that the publish is real.
    func noteStarted() { content.withLock { $0.hasStarted = true } }

    /// Notes which layers there are now, and how they rank.
    func note(_ layers: [VideoLayer]) { content.withLock { $0.layers = layers } }

    /// Notes that another encoder is its source; the oldest are forgotten.
    func note(_ switched: SourceSwitch) {
        content.withLock { content in
            if content.switches.count >= Self.maximumSwitches { content.switches.removeFirst() }
            content.switches.append(switched)
        }
    }

    /// - Returns: false when it had ended before.
    func end(_ ending: SessionEnding) -> Bool {
        content.withLock { content in
            guard content.ending == nil else { return false }
            content.ending = ending
            content.steps.append(PublishStep("ended", at: ending.time))
            return true
        }
    }

    private static let maximumSteps = 32
    private static let maximumMutes = 32
    private static let maximumSwitches = 32
    /// More than the media contract has rules.
    private static let maximumWarnings = 32
}

/// How a publish ended.
public struct SessionEnding: Sendable, Equatable {
    public var time: WallTime
    /// A word from a fixed set, as metrics and logs name it: `unpublished`, `connection_lost`, a refusal's name, …
    public var reason: String
    /// The same in a sentence.
    public var verdict: String

    public init(_ end: SessionEnd, at time: WallTime) {
        self.time = time
        switch end {
        case .closed: (reason, verdict) = (end.name, "The encoder ended its publish.")
        case .connectionLost: (reason, verdict) = (end.name, "The connection was lost, or nothing came any more.")
        case .takenOver: (reason, verdict) = (end.name, "Another encoder took over the same participant.")
        case .shutdown: (reason, verdict) = (end.name, "This gateway went away.")
        case .refused(let refusal): (reason, verdict) = (refusal.code.name, refusal.text)
        }
    }
}

/// A rule of the media contract that a publish breaks and that only warns, or what its encoder says that it loses (`encoder`).
public struct SessionWarning: Sendable, Equatable {
    /// The rule's name, as metrics and events have it.
    public var rule: String
    /// What was measured, what is allowed, and which setting to change.
    public var sentence: String
    /// Of the latest one.
    public var time: WallTime
    public var count = 1

    public init(rule: String, sentence: String, time: WallTime) {
        (self.rule, self.sentence, self.time) = (rule, sentence, time)
    }
}

extension SessionRecord {
    /// The session as `GET /v1/sessions/{id}` and the console show it.
    public func json(_ sample: SessionSample? = nil) -> JSONObject {
        let ending = ending
        var object: JSONObject = [
            "sessionId": .string(id), "protocol": .string(ingestProtocol.rawValue),
            "participantId": .string(grant.participantID), "userId": .string(grant.userID),
            "stageArn": .string(grant.stageARN), "stageSessionId": .string(lease.stageSessionID),
            "state": .string(ending == nil ? "live" : "ended"), "source": .string(origin.source.description),
            "userAgent": .string(origin.userAgent), "began": .string(CivilTime(began).rfc3339),
            "totals": SessionTotals(counters).json, "layers": layersJSON(sample),
            "story": .object(storyJSON),
        ]
        if let ending {
            object["ended"] = .string(CivilTime(ending.time).rfc3339)
            object["reason"] = .string(ending.reason)
            object["verdict"] = .string(ending.verdict)
        }
        if let replica = grant.replica { object["replicaOf"] = .string(replica.sourceStageARN) }
        if let encoder = encoder.json { object["encoder"] = encoder }
        if let sample { object["now"] = sample.json }
        return object
    }

    private var storyJSON: JSONObject {
        var story: JSONObject = ["steps": stepsJSON, "warnings": warningsJSON]
        let switches = content.withLock { $0.switches }
        if grant.redundancy == .joined { story["switches"] = .array(switches.map(\.json)) }
        return story
    }

    /// By its name, best first; one that is paused, and every one of a publish that has ended, is not active.
    private func layersJSON(_ sample: SessionSample?) -> JSONValue {
        let isLive = ending == nil
        return .array(
            layers.map { layer in
                let rates = sample?[layer] ?? SessionSample.Track()
                return [
                    "name": .string(layer.name.rawValue), "rid": .string(layer.rid), "width": .integer(Int64(layer.width)),
                    "height": .integer(Int64(layer.height)),
                    "framesPerSecond": .number(rates.framesPerSecond.rounded(toPlaces: 1)),
                    "bitsPerSecond": .integer(Int64(rates.bitsPerSecond)), "active": .bool(isLive && layer.isActive),
                ]
            })
    }

    /// How it stands with each rule of the media contract.
    public var rulesJSON: JSONValue { .array(contract?.rules.map(\.json) ?? []) }

    /// What it was warned of, oldest first.
    public var warningsJSON: JSONValue {
        .array(
            warnings.map { warning in
                [
                    "rule": .string(warning.rule), "sentence": .string(warning.sentence),
                    "time": .string(CivilTime(warning.time).rfc3339), "count": .integer(Int64(warning.count)),
                ]
            })
    }

    private var stepsJSON: JSONValue {
        let steps = steps
        let first = steps.first?.time ?? began
        return .array(
            steps.map { step in
                [
                    "step": .string(step.name), "time": .string(CivilTime(step.time).rfc3339),
                    "milliseconds": .integer((step.time - first).milliseconds),
                ]
            })
    }
}

extension RuleStanding {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "rule": .string(rule.rawValue), "action": .string(action.rawValue), "limit": .string(limit),
            "setting": .string(setting),
        ]
        if let seen { object["seen"] = .string(seen) }
        if let isKept { object["ok"] = .bool(isKept) }
        return .object(object)
    }
}
