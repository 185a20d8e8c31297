public import JSON

/// Why a request failed, for programs and people (RFC 9457).
public struct ProblemDocument: Equatable, Sendable {
    /// Of the answer.
    public var status: HTTPStatus
    /// The same for every occurrence.
    public var title: String
    /// What was wrong this time.
    public var detail: String?
    /// Further members, `code` for one.
    public var extensions: JSONObject

    /// - Parameter title: nil takes the status's phrase.
    public init(_ status: HTTPStatus, title: String? = nil, detail: String? = nil, extensions: JSONObject = [:]) {
        (self.status, self.title) = (status, title ?? status.phrase)
        (self.detail, self.extensions) = (detail, extensions)
    }

    /// The media type of `json`.
    public static let contentType = "application/problem+json"

    /// The members of RFC 9457 §3.1 first; an extension cannot replace them.
    public var json: JSONValue {
        var object = JSONObject()
        object["type"] = "about:blank"
        object["title"] = .string(title)
        object["status"] = .integer(Int64(status.code))
        object["detail"] = detail.map { .string($0) }
        for member in extensions.members where object[member.name] == nil { object[member.name] = member.value }
        return .object(object)
    }

    /// The answer that carries it.
    public func response(headers: HTTPHeaders = [:]) -> HTTPResponse {
        var response = HTTPResponse(status, headers: headers, body: json.serialized())
        response.headers["Content-Type"] = Self.contentType
        return response
    }
}

extension HTTPResponse {
    /// A JSON response.
    public init(_ status: HTTPStatus, json: JSONValue, headers: HTTPHeaders = [:]) {
        self.init(status, headers: headers, body: json.serialized())
        self.headers["Content-Type"] = "application/json"
    }
}
