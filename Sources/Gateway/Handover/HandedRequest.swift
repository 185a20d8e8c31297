import Foundation
public import HTTP
import Wire

/// A request for a session of the predecessor, as the successor passes it on.
public struct HandedRequest: Codable, Sendable, Equatable {
    /// Requests with more are answered by the successor: no fragment of ICE is so long.
    public static let maximumBodyLength = 24 * 1024

    struct Field: Codable, Sendable, Equatable {
        var name: String
        var value: String
    }

    var method: String
    var target: String
    var headers: [Field]
    var body: Data
    var source: String
    var isSecure: Bool

    /// Nil when it is too long to be passed on.
    public init?(_ request: HTTPRequest) {
        guard request.body.count <= Self.maximumBodyLength else { return nil }
        (method, target, body) = (request.method.rawValue, request.target, Data(request.body))
        headers = request.headers.fields.map { Field(name: $0.name, value: $0.value) }
        (source, isSecure) = ("\(request.source)", request.isSecure)
    }

    /// Nil when it is no request at all.
    public var request: HTTPRequest? {
        guard let parsed = HTTPRequestTarget(target) else { return nil }
        var fields = HTTPHeaders()
        for field in headers { fields.add(field.name, field.value) }
        var request = HTTPRequest(
            method: HTTPMethod(rawValue: method), target: parsed, rawTarget: target, headers: fields, body: [UInt8](body))
        if let source = SocketAddress(source) { request.source = source }
        request.isSecure = isSecure
        return request
    }
}

/// The predecessor's answer.
public struct HandedResponse: Codable, Sendable, Equatable {
    var status: Int
    var headers: [HandedRequest.Field]
    var body: Data

    public init(_ response: HTTPResponse) {
        (status, body) = (response.status.code, Data(response.body))
        headers = response.headers.fields.map { HandedRequest.Field(name: $0.name, value: $0.value) }
    }

    public var response: HTTPResponse {
        var response = HTTPResponse(HTTPStatus(status), body: [UInt8](body))
        for field in headers { response.headers.add(field.name, field.value) }
        return response
    }
}
