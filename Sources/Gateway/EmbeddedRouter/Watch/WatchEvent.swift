import Admission
import HTTP
import JSON
import Refusals
import StageHub
import Wire

/// What the watch page is told, as server-sent events.
enum WatchEvent: Equatable {
    /// First of all: who is live comes next, and the page forgets what it knew before.
    case welcome(stageID: String, at: WallTime)
    /// Who went live, or changed.
    case present(LiveParticipant)
    case left(participantID: String)
    /// The gateway's clock.
    case clock(WallTime)
    /// The token is no longer good; the stream ends.
    case refused(Refusal)

    init(_ event: StageBoard.Event) {
        self =
            switch event {
            case .present(let participant): .present(participant)
            case .left(let participantID): .left(participantID: participantID)
            }
    }

    var serverSent: ServerSentEvent { ServerSentEvent(event: name, data: JSONValue.object(members).description) }

    private var name: String {
        switch self {
        case .welcome: "welcome"
        case .present: "present"
        case .left: "left"
        case .clock: "clock"
        case .refused: "refused"
        }
    }

    private var members: JSONObject {
        switch self {
        case .welcome(let stageID, let time): ["stageId": .string(stageID), "now": .integer(time.millisecondsSince1970)]
        case .present(let participant): participant.json
        case .left(let participantID): ["participantId": .string(participantID)]
        case .clock(let time): ["now": .integer(time.millisecondsSince1970)]
        case .refused(let refusal): ["code": .string(refusal.code.identifier), "detail": .string(refusal.text)]
        }
    }
}

extension LiveParticipant {
    fileprivate var json: JSONObject {
        let named = attributes.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
        let quiet = [TrackID.video, .audio].filter(muted.contains).map { JSONValue.string($0.kind == .video ? "video" : "audio") }
        return [
            "participantId": .string(participantID), "userId": .string(userID), "attributes": .object(JSONObject(named)),
            "protocol": .string(ingestProtocol.rawValue), "since": .integer(since.millisecondsSince1970),
            "publish": .integer(Int64(clamping: serial)), "muted": .array(quiet),
        ]
    }
}
