public import HTTP

/// Cross-origin access for pages that publish and watch (RFC 9725 §4.1, Fetch): any origin, never with cookies.
public enum CrossOrigin {
    public static func allow(_ response: HTTPResponse, for request: HTTPRequest) -> HTTPResponse {
        var response = response
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] =
            "Location, Link, ETag, Accept-Post, Accept-Patch, Retry-After, Stagedoor-Warning"
        return response
    }

    /// OPTIONS: 200 with what is accepted; ICE servers only where it is no preflight (RFC 9725 §4.6).
    public static func preflight(
        _ request: HTTPRequest, allowed: String, isSession: Bool, linkHeaders: [String]
    ) -> HTTPResponse {
        var response = HTTPResponse(.ok)
        response.headers["Allow"] = allowed
        response.headers["Access-Control-Allow-Methods"] = "OPTIONS, GET, POST, PATCH, DELETE"
        response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type, If-Match, Link"
        response.headers["Access-Control-Max-Age"] = "86400"
        if isSession {
            response.headers["Accept-Patch"] = "application/trickle-ice-sdpfrag"
        } else {
            response.headers["Accept-Post"] = "application/sdp"
        }
        guard !request.headers.contains("Access-Control-Request-Method") else { return response }
        for link in linkHeaders { response.headers.add("Link", link) }
        return response
    }
}
