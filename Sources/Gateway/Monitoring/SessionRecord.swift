public import Admission
import EventLoop
import MediaContract
public import Refusals
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
    /// Between two encoders, the latest ones.
    var switches: [SourceSwitch] { content.withLock { $0.switches } }
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
