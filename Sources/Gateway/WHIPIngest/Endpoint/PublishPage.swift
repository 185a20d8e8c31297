import HTTP

/// `GET /publish`: a page that publishes camera, screen or a test pattern.
enum PublishPage {
    static var response: HTTPResponse {
        var response = HTTPResponse(.ok, body: PackageResources.publish_html)
        response.headers["Content-Type"] = "text/html; charset=utf-8"
        response.headers["Content-Security-Policy"] =
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src *; media-src blob:"
        response.headers["Cache-Control"] = "no-store"
        return response
    }
}
