public import HTTP

/// Cross-origin access for pages that publish and watch (RFC 9725 §4.1, Fetch): any origin, never with cookies.
public enum CrossOrigin {
    public static func allow(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] =
            "Location, Link, ETag, Accept-Post, Accept-Patch, Retry-After, Stagedoor-Warning"
        return response
    }
}
