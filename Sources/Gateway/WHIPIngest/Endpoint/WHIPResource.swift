import WebRTCTransport

/// The resources of WHIP by their paths (docs/design.md 2.4).
enum WHIPResource: Equatable {
    /// `/whip`, and `/`, the global form that IVS users type.
    case endpoint
    case session(String)
    case publishPage

    init?(path: String, servesPublishPage: Bool) {
        switch path {
        case "/", "/whip", "/whip/": self = .endpoint
        case "/publish" where servesPublishPage: self = .publishPage
        default:
            let prefix = Self.sessionPrefix
            guard path.hasPrefix(prefix), path.utf8.count <= prefix.utf8.count + SessionIdentifier.maximumLength else {
                return nil
            }
            self = .session(String(path.dropFirst(prefix.count)))
        }
    }

    /// Of every session's path; its id follows.
    static let sessionPrefix = "/whip/sessions/"

    var isSession: Bool { if case .session = self { true } else { false } }

    var allowedMethods: String {
        switch self {
        case .endpoint: "OPTIONS, GET, HEAD, POST"
        case .session: "OPTIONS, GET, HEAD, PATCH, DELETE"
        case .publishPage: "GET, HEAD"
        }
    }
}
