import HTTP

/// What the watch page's paths name.
enum WatchResource: Equatable {
    case page
    case events(stageID: String)
    case asset(WatchAsset)

    /// Nil for paths that are not the watch page's.
    init?(_ request: HTTPRequest) {
        guard let segments = request.pathSegments, segments.first == "watch", segments.count >= 2 else { return nil }
        let name = segments[1]
        guard !name.isEmpty, name.utf8.count <= Self.maximumStageIDLength else { return nil }
        switch segments.count {
        case 2: self = .page
        case 3 where segments[2] == "events": self = .events(stageID: name)
        case 3:
            guard name == "assets", let asset = WatchAsset(rawValue: segments[2]) else { return nil }
            self = .asset(asset)
        default: return nil
        }
    }

    var allowedMethods: String {
        if case .events = self { "GET, OPTIONS" } else { "GET, HEAD" }
    }

    /// Longer than any stage's id.
    private static let maximumStageIDLength = 128
}

/// The files of the watch page, as they stand in the program.
enum WatchAsset: String {
    case script = "watch.js"
    case viewer = "viewer.js"
    case style = "watch.css"

    var response: HTTPResponse {
        switch self {
        case .script: Self.response(PackageResources.watch_js, "text/javascript; charset=utf-8")
        case .viewer: Self.response(PackageResources.viewer_js, "text/javascript; charset=utf-8")
        case .style: Self.response(PackageResources.watch_css, "text/css; charset=utf-8")
        }
    }

    /// The page itself. It loads nothing from elsewhere, and no other page frames it.
    static var page: HTTPResponse {
        var page = response(PackageResources.watch_html, "text/html; charset=utf-8")
        page.headers["Content-Security-Policy"] =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; media-src blob:; img-src data:;"
            + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        page.headers["Referrer-Policy"] = "no-referrer"
        return page
    }

    /// Never cached: a gateway's new version brings a new page.
    private static func response(_ bytes: [UInt8], _ type: String) -> HTTPResponse {
        var response = HTTPResponse(.ok, body: bytes)
        response.headers["Content-Type"] = type
        response.headers["Cache-Control"] = "no-store"
        return response
    }
}
