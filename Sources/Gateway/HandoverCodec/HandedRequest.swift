public import HTTP
import Wire

/// A request for a session of the predecessor, as the successor passes it on. Its length is the request's own, which the HTTP
/// server bounds (16 KiB of head), and the endpoints of WHIP and WHEP (64 KiB of body).
public struct HandedRequest: Codable, Sendable, Equatable {
    struct Field: Codable, Sendable, Equatable {
        var name: PeerBytes
        var value: PeerBytes

        init(_ field: HTTPHeaders.Field) { (name, value) = (PeerBytes(field.name), PeerBytes(field.value)) }
    }

    var method: PeerBytes
    var target: PeerBytes
    var headers: [Field]
    var body: PeerBytes
    var source: String
    var isSecure: Bool

    public init(_ request: HTTPRequest) {
        (method, target) = (PeerBytes(request.method.rawValue), PeerBytes(request.target))
        (headers, body) = (request.headers.fields.map(Field.init), PeerBytes(request.body))
        (source, isSecure) = ("\(request.source)", request.isSecure)
    }

    /// Nil when it is no request at all.
    public var request: HTTPRequest? {
        guard let parsed = HTTPRequestTarget(target.text) else { return nil }
        var request = HTTPRequest(
            method: HTTPMethod(rawValue: method.text), target: parsed, rawTarget: target.text, headers: HTTPHeaders(headers),
            body: body.bytes)
        if let source = SocketAddress(source) { request.source = source }
        request.isSecure = isSecure
        return request
    }
}

/// The predecessor's answer.
public struct HandedResponse: Codable, Sendable, Equatable {
    var status: Int
    var headers: [HandedRequest.Field]
    var body: PeerBytes

    public init(_ response: HTTPResponse) {
        (status, body) = (response.status.code, PeerBytes(response.body))
        headers = response.headers.fields.map(HandedRequest.Field.init)
    }

    public var response: HTTPResponse { HTTPResponse(HTTPStatus(status), headers: HTTPHeaders(headers), body: body.bytes) }
}

extension HTTPHeaders {
    fileprivate init(_ handed: [HandedRequest.Field]) {
        self.init()
        for field in handed { add(field.name.text, field.value.text) }
    }
}
