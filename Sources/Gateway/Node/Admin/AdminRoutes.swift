import CloudWatch
import ControlPlane
import HTTP

/// Who is answered at an address of the admin listener, among those who reached it under a name of ours: a foreign page that
/// leads a browser here is refused before anything else.
enum AdminCaller: Equatable {
    /// Whoever reaches the listener.
    case anybody
    /// On loopback anybody; elsewhere a key that may, a bearer of `metrics.token`, and
    /// `metrics.networks`: metrics show who is live.
    case metricsReader
    /// Where signatures are demanded, a key of any kind.
    case anyKey
    /// Where signatures are demanded, a key that may do this.
    case key(AccessAction)
    /// What may be asked depends on the operation, which the API reads.
    case judgedByAPI
}

/// What is answered there.
enum AdminAction: Equatable {
    /// `/livez` and `/readyz`.
    case health
    case metrics
    case page
    /// Signing in to the console, and out.
    case consoleSession
    case drain(DrainOrder)
    case events
    case overview
    case sessions
    /// One session, by its id.
    case session
    /// The metrics of a stage, by its id.
    case stageMetrics
    /// The JSON that sets up OBS for an ingest configuration, by its id.
    case obsConfiguration
    /// The description for static receivers, by the participant's id, before which the stage's may stand.
    case description
    /// Which of a participant's two encoders the stage gets, by the id of any of the three.
    case source(SourceOrder)
    /// The latest thumbnail of somebody who is live, by the stage's id and the participant's.
    case thumbnail
    /// A file of a recording, in that folder: by the stage's id, the session's, the participant's, and its name.
    case recording(folder: String)
    /// An operation of the control API.
    case operation
    /// One of CloudWatch's.
    case cloudWatch
}

/// What is wanted of a participant's source.
enum SourceOrder: Equatable { case show, change }

/// The addresses of the admin listener. A value: whoever serves asks what a request means, and who may make it.
struct AdminRoutes {
    struct Route: Equatable {
        /// Segments of the path, as they are when decoded; `*` takes any one.
        var path: String
        var methods: [HTTPMethod]
        var caller: AdminCaller
        var action: AdminAction

        init(_ path: String, _ methods: [HTTPMethod], for caller: AdminCaller, _ action: AdminAction) {
            (self.path, self.methods, self.caller, self.action) = (path, methods, caller, action)
        }
    }

    enum Match: Equatable {
        /// What `*` of the path took comes along.
        case found(AdminAction, for: AdminCaller, [String])
        /// The path is known, the method is not; who may not ask at all learns nothing of that.
        case notAllowed(for: AdminCaller, allowed: [HTTPMethod])
        case unknown(for: AdminCaller)
    }

    let routes: [Route]
    /// Whether a path is one of the control API's, which has its own words for wrong methods.
    let isOperation: (_ path: String) -> Bool

    /// - Parameter pages: the console's paths.
    init(pages: [String], isOperation: @escaping (_ path: String) -> Bool) {
        self.isOperation = isOperation
        routes = Self.fixed + pages.map { Route($0, [.get, .head], for: .anybody, .page) }
    }

    /// Beside the console's page stands CloudWatch's API, whose protocols post.
    private static let fixed: [Route] =
        CloudWatchCall.paths.map { Route($0, [.post], for: .judgedByAPI, .cloudWatch) } + [
            Route("/livez", [.get, .head], for: .anybody, .health),
            Route("/readyz", [.get, .head], for: .anybody, .health),
            Route("/metrics", [.get, .head], for: .metricsReader, .metrics),
            // The console asks before it has a session; signing in is what is judged there.
            Route("/v1/console/session", [.get, .post, .delete], for: .anybody, .consoleSession),
            Route("/v1/drain", [.get], for: .key(.getDrain), .drain(.show)),
            Route("/v1/drain", [.post], for: .key(.startDrain), .drain(.begin)),
            Route("/v1/drain", [.delete], for: .key(.stopDrain), .drain(.cancel)),
            Route("/v1/undrain", [.post], for: .key(.stopDrain), .drain(.cancel)),
            Route("/v1/events", [.get], for: .key(.getEvents), .events),
            // It holds the stream key.
            Route("/v1/ingestConfigurations/*/obs", [.get, .head], for: .key(.exportEncoderSettings), .obsConfiguration),
            Route("/v1/overview", [.get, .head], for: .key(.getOverview), .overview),
            Route("/v1/sessions", [.get, .head], for: .key(.listSessions), .sessions),
            Route("/v1/sessions/*", [.get, .head], for: .key(.getSession), .session),
            Route("/v1/stages/*/metrics", [.get, .head], for: .key(.getStageMetrics), .stageMetrics),
            Route("/v1/participants/*/sdp", [.get, .head], for: .key(.getDescription), .description),
            Route("/v1/participants/*/source", [.get, .head], for: .key(.getSource), .source(.show)),
            Route("/v1/participants/*/source", [.post], for: .key(.switchSource), .source(.change)),
            Route("/v1/stages/*/participants/*/sdp", [.get, .head], for: .key(.getDescription), .description),
            Route("/v1/stages/*/participants/*/thumbnail", [.get, .head], for: .key(.getThumbnail), .thumbnail),
        ] + recordings

    /// Files of recordings. Addresses go on as keys do below a recording's prefix, so that playlists lead on.
    private static let recordings =
        ["events", "media/hls", "media/hls/high", "media/thumbnails/high", "media/latest_thumbnail/high"].map { folder in
            Route(
                "/v1/stages/*/sessions/*/participants/*/recording/\(folder)/*", [.get, .head], for: .key(.getRecording),
                .recording(folder: folder))
        }

    func match(_ request: HTTPRequest) -> Match {
        // None where they are not UTF-8, as no route has it.
        let segments = request.pathSegments ?? []
        var allowed: [HTTPMethod] = []
        var caller: AdminCaller?
        for route in routes {
            guard let taken = route.taken(from: segments) else { continue }
            if route.methods.contains(request.method) { return .found(route.action, for: route.caller, taken) }
            allowed += route.methods
            caller = caller ?? route.caller
        }
        if let caller { return .notAllowed(for: caller, allowed: allowed) }
        if isOperation(request.path) { return .found(.operation, for: .judgedByAPI, []) }
        // Which paths exist under /v1/ is for those who have a key.
        return .unknown(for: request.path.hasPrefix("/v1/") ? .anyKey : .anybody)
    }
}

extension AdminRoutes.Route {
    /// What `*` takes of a request's path; nil when the path is another one.
    fileprivate func taken(from segments: [String]) -> [String]? {
        let wanted = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count == wanted.count else { return nil }
        var taken: [String] = []
        for (segment, pattern) in zip(segments, wanted) {
            if pattern == "*" { taken.append(segment) } else if segment != pattern { return nil }
        }
        return taken
    }
}
