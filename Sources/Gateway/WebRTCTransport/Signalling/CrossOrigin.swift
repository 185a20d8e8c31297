public import HTTP

/// Cross-origin access for pages that publish and watch (RFC 9725 §4.1, Fetch): any origin, never with cookies.
public enum CrossOrigin {
    /// The response as pages of any origin may read it, with the fields that WHIP and WHEP use.
    public static func allow(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] =
            "Location, Link, ETag, Accept-Post, Accept-Patch, Retry-After, Stagedoor-Warning"
        return response
    }
}
