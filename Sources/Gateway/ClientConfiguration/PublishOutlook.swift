import Admission
import EncoderSetup
import Monitoring
import Refusals
import Store
import Wire

/// What is known, before it begins, of a publish with a good stream key: for the dialog that OBS shows before it connects.
struct PublishOutlook: Equatable, Sendable {
    /// Whether somebody publishes with the key now, at any node; nil while the nodes cannot agree on that.
    var isLive: Bool?
    /// The words for which the last publish with the key was ended; nil when it ended as its encoder wished.
    var lastEnd: String?

    var status: OBSConfiguration.Status {
        var words: [String] = []
        switch isLive {
        case true: words.append("\(Refusal(.streamKeyInUse).text)\n\(Self.ownConnection)")
        case false: break
        default: words.append(Refusal(.platformAway).text)
        }
        if let lastEnd { words.append("The last stream with this key was ended. \(lastEnd)\n\(Self.mended)") }
        return words.isEmpty ? .success : .warning(words.joined(separator: "\n"))
    }

    private static let ownConnection = "If that is this encoder, whose connection broke, go on: it takes over."
    private static let mended = "The settings that are given now meet the stage's rules."
}

/// The end of a participant's last publish, where it broke the media contract: as the history has it, of whatever node.
struct BrokenPublish: Equatable, Sendable {
    /// `EventErrorCode` of the API model.
    var errorCode: String
    var time: WallTime

    /// - Returns: nil when the last publish of the stage's newest session ended otherwise, or nobody published in it.
    static func last(of grant: PublishGrant, in history: any HistoryReading) throws -> BrokenPublish? {
        guard let session = try history.sessions(ofStage: grant.stageARN, after: nil, limit: 1).first else { return nil }
        let participant = SessionParticipant(grant.participantID, ofStage: grant.stageARN, sessionID: session.sessionID)
        let events = try history.events(of: participant, limit: maximumEvents)
        guard events.count < maximumEvents, let last = events.last(where: decides) else { return nil }
        return last.name == .publishError ? BrokenPublish(errorCode: last.errorCode, time: last.time) : nil
    }

    /// Being turned away, by a key in use for instance, says nothing of how the publish before that ended.
    private static func decides(_ event: ParticipantEvent) -> Bool {
        event.name == .publishStarted || event.name == .publishError && contractCodes.contains(event.errorCode)
    }

    /// Five a publish: of a participant with more of them in one session nothing is said.
    private static let maximumEvents = 1_000
    private static let contractCodes = Set(RefusalCode.allCases.filter(\.isContractViolation).compactMap(\.eventErrorCode))
}
