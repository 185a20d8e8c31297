import HTTP
import JSON
import Refusals

extension Refusal {
    /// The refusal as a problem document (RFC 9457), with the header fields that its status demands (RFC 6750 §3).
    func response(headers: HTTPHeaders = [:]) -> HTTPResponse {
        var headers = headers
        switch code.httpStatus {
        case 401 where code == .missingToken: headers["WWW-Authenticate"] = #"Bearer realm="stagedoor""#
        case 401: headers["WWW-Authenticate"] = #"Bearer realm="stagedoor", error="invalid_token""#
        case 403: headers["WWW-Authenticate"] = #"Bearer realm="stagedoor", error="insufficient_scope""#
        case 429, 503: headers["Retry-After"] = "2"
        default: break
        }
        let document = ProblemDocument(
            HTTPStatus(code.httpStatus), title: code.name.replacing("_", with: " "), detail: text,
            extensions: ["code": .string(code.identifier)])
        return document.response(headers: headers)
    }
}
