import HTTP

/// `GET /publish`: a page that publishes camera, screen or a test pattern, to this gateway alone, and in no other page's frame.
enum PublishPage {
    static var response: HTTPResponse {
        var response = HTTPResponse(.ok, body: PackageResources.publish_html)
        response.headers["Content-Type"] = "text/html; charset=utf-8"
        response.headers["Content-Security-Policy"] =
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; media-src blob:;"
            + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        return response
    }
}
