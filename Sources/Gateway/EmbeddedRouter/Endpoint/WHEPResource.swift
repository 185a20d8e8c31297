import HTTP
import WebRTCTransport

/// The resources of WHEP by their paths (docs/design.md 2.4).
enum WHEPResource: Equatable {
    /// `/whep/{stageId}/{participantId}`.
    case participant(WatchedKey)
    /// `/whep/sessions/{id}`.
    case session(String)

    init?(_ request: HTTPRequest) {
        guard request.path.hasPrefix("/whep/"), request.path.utf8.count <= Self.maximumPathLength,
            let segments = request.pathSegments, segments.count == 3, !segments[1].isEmpty, !segments[2].isEmpty
        else { return nil }
        self =
            segments[1] == "sessions"
            ? .session(segments[2]) : .participant(WatchedKey(stageID: segments[1], participantID: segments[2]))
    }

    var isSession: Bool { if case .session = self { true } else { false } }

    var allowedMethods: String {
        switch self {
        case .participant: "OPTIONS, GET, HEAD, POST"
        case .session: "OPTIONS, GET, HEAD, PATCH, DELETE"
        }
    }

    private static let maximumPathLength = 64 + SessionIdentifier.maximumLength
}
