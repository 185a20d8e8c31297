import Admission
import HTTP
import JWT
import WebRTCTransport

/// The resources of WHEP by their paths (docs/design.md 2.4).
enum WHEPResource: Equatable {
    /// `/whep/{stageId}/{participantId}`.
    case participant(ParticipantKey)
    /// `/whep/sessions/{id}`.
    case session(String)
    /// `/whep/sessions/{id}/layer`: the layer extension.
    case layer(String)
    /// `/whep/sessions/{id}/events`: the extension of server-sent events; a POST there makes a stream.
    case events(String)
    /// `/whep/sessions/{id}/events/{names}`: such a stream.
    case eventStream(String, names: String)

    init?(_ request: HTTPRequest) {
        guard request.path.hasPrefix("/whep/"), request.path.utf8.count <= Self.maximumPathLength,
            let segments = request.pathSegments, (3...5).contains(segments.count), !segments.contains(where: \.isEmpty)
        else { return nil }
        switch (segments.count, segments[1]) {
        case (3, "sessions"): self = .session(segments[2])
        // Both come back in the history, as they were sent. A stage's id is made as a participant's.
        case (3, _) where segments[1...].allSatisfy(ParticipantClaims.isParticipantID):
            self = .participant(ParticipantKey(segments[2], onStage: segments[1]))
        case (4, "sessions") where segments[3] == "layer": self = .layer(segments[2])
        case (4, "sessions") where segments[3] == "events": self = .events(segments[2])
        case (5, "sessions") where segments[3] == "events": self = .eventStream(segments[2], names: segments[4])
        default: return nil
        }
    }

    var isSession: Bool { if case .participant = self { false } else { true } }

    /// The session without which a request cannot be answered; nil also for streams of events, which are no answers.
    func session(for method: HTTPMethod) -> String? {
        switch (method, self) {
        case (.patch, .session(let id)), (.delete, .session(let id)): id
        case (.get, .layer(let id)), (.head, .layer(let id)), (.post, .layer(let id)), (.delete, .layer(let id)): id
        default: nil
        }
    }

    var allowedMethods: String {
        switch self {
        case .participant: "OPTIONS, GET, HEAD, POST"
        case .session: "OPTIONS, GET, HEAD, PATCH, DELETE"
        case .layer: "OPTIONS, GET, HEAD, POST, DELETE"
        case .events: "OPTIONS, POST"
        case .eventStream: "OPTIONS, GET, DELETE"
        }
    }

    /// A session's path as its client has to ask for it.
    static func location(ofSession id: String, behind prefix: String) -> String { "\(prefix)/whep/sessions/\(id)" }

    /// The extensions of a session's own, as its 201 names them.
    static func links(ofSession location: String) -> [String] {
        let events = LayerEvents.Kind.allCases.map(\.rawValue).joined(separator: ",")
        return [
            "<\(location)/layer>; rel=\"urn:ietf:params:whep:ext:core:layer\"",
            "<\(location)/events>; rel=\"urn:ietf:params:whep:ext:core:server-sent-events\"; events=\"\(events)\"",
        ]
    }

    private static let maximumPathLength = 96 + SessionIdentifier.maximumLength
}
