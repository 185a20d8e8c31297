public import HTTP
import JSON
public import Refusals

extension Refusal {
    /// The refusal as WHIP and WHEP clients read it: a problem document, with the header fields that its status demands.
    ///
    /// The reason phrase repeats it, because ffmpeg (but for a 401) prints the status line, and nothing of the body.
    public func response(headers: HTTPHeaders = [:]) -> HTTPResponse {
        var headers = headers
        switch code.httpStatus {
        case 401: headers["WWW-Authenticate"] = challenge
        case 403: headers["WWW-Authenticate"] = #"Bearer realm="stagedoor", error="insufficient_scope""#
        case 429, 503: headers["Retry-After"] = headers["Retry-After"] ?? "2"
        // Players may wait for a publisher (draft-ietf-wish-whep, "Session Management").
        case 409 where code == .participantNotLive: headers["Retry-After"] = "2"
        default: break
        }
        let document = ProblemDocument(
            HTTPStatus(code.httpStatus), title: code.name.replacing("_", with: " "), detail: text,
            extensions: ["code": .string(code.identifier)])
        var response = document.response(headers: headers)
        response.reason = text
        return response
    }

    /// RFC 6750 §3: without credentials no error is named; with them it is, and why.
    private var challenge: String {
        guard code != .missingToken else { return #"Bearer realm="stagedoor""# }
        let words = sentence.filter { $0.isASCII && $0 != "\"" && $0 != "\\" }
        return #"Bearer realm="stagedoor", error="invalid_token", error_description="\#(words)""#
    }
}

extension HTTPRequest {
    /// What a request that shows no bearer token is refused for.
    public var refusalWithoutToken: Refusal {
        if method == .patch, body.first == UInt8(ascii: "{") {
            // React Native's react-native-whip-whep sends each candidate so. It gives up at a 401, and goes on at a 400.
            return Refusal(
                .malformedFragment,
                sentence: "The SDP fragment is malformed: it is JSON. The request shows no token of the session either.")
        }
        guard headers["Authorization"]?.prefix(6).lowercased() == "basic " else { return Refusal(.missingToken) }
        return Refusal(
            .missingToken,
            sentence: "The token came by the Basic scheme: have the encoder send it by Bearer (Authorization: Bearer TOKEN).")
    }
}
