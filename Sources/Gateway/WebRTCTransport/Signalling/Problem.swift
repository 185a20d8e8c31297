public import HTTP
import JSON
public import Refusals

/// A refusal as WHIP and WHEP clients read it: problem document, and the header fields its status demands.
///
/// The reason phrase repeats it, because ffmpeg (but for a 401) prints the status line, and nothing of the body.
public enum Problem {
    public static func response(_ refusal: Refusal, headers: HTTPHeaders = [:]) -> HTTPResponse {
        var headers = headers
        switch refusal.code.httpStatus {
        case 401: headers["WWW-Authenticate"] = challenge(refusal)
        case 403: headers["WWW-Authenticate"] = #"Bearer realm="stagedoor", error="insufficient_scope""#
        case 429, 503: headers["Retry-After"] = headers["Retry-After"] ?? "2"
        // Players may wait for a publisher (draft-ietf-wish-whep, "Session Management").
        case 409 where refusal.code == .participantNotLive: headers["Retry-After"] = "2"
        default: break
        }
        let document = ProblemDocument(
            HTTPStatus(refusal.code.httpStatus), title: refusal.code.name.replacing("_", with: " "), detail: refusal.text,
            extensions: ["code": .string(refusal.code.identifier)])
        var response = document.response(headers: headers)
        response.reason = refusal.text
        return response
    }

    /// RFC 6750 §3: without credentials no error is named; with them it is, and why.
    private static func challenge(_ refusal: Refusal) -> String {
        guard refusal.code != .missingToken else { return #"Bearer realm="stagedoor""# }
        let sentence = refusal.sentence.filter { $0.isASCII && $0 != "\"" && $0 != "\\" }
        return #"Bearer realm="stagedoor", error="invalid_token", error_description="\#(sentence)""#
    }
}
