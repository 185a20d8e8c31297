import CBOR
import HTTP
import JSON
import Wire

/// The protocols that clients of CloudWatch speak. Which one a client takes is its own choice among those that its model names.
enum CloudWatchProtocol: Equatable, Sendable {
    /// AWS Query: botocore and the AWS CLI before 1.42, AWS SDKs of the first generation, Grafana before 12.
    case query
    /// AWS JSON 1.0: botocore and the AWS CLI of today.
    case json
    /// Smithy RPC v2 CBOR: today's AWS SDKs for Go, Java, JavaScript, Rust.
    case cbor

    static let target = "GraniteServiceVersion20100801"
    static let namespace = "http://monitoring.amazonaws.com/doc/2010-08-01/"
    static let cborPath = "/service/\(target)/operation/"

    /// The protocol of a request, and its operation's name; nil for what is none of CloudWatch's.
    static func introduction(of request: HTTPRequest) -> (CloudWatchProtocol, String)? {
        if request.path.hasPrefix(cborPath) { return (.cbor, String(request.path.dropFirst(cborPath.count))) }
        guard request.path == "/" else { return nil }
        if let header = request.headers["X-Amz-Target"], CloudWatchValue.text(header).isQuicklyCompared {
            let words = header.split(separator: Character("."), maxSplits: 1)
            return words.count == 2 && words[0] == target ? (.json, String(words[1])) : nil
        }
        let action = QueryForm.value(of: "Action", in: request.body)
        return action.map { (.query, $0) }
    }

    func input(_ request: HTTPRequest) throws(CloudWatchError) -> CloudWatchValue {
        switch self {
        case .query: return try QueryForm.value(parsing: request.body)
        case .json:
            guard !request.body.isEmpty else { return [:] }
            guard let value = try? JSONValue(parsing: request.body) else { throw .malformed }
            return CloudWatchValue(value)
        case .cbor:
            guard !request.body.isEmpty else { return [:] }
            guard let value = try? CBORValue(parsing: request.body) else { throw .malformed }
            return CloudWatchValue(value)
        }
    }

    /// - Parameter requestID: the answer's own, for the client's logs.
    func response(_ output: CloudWatchValue, to operation: String, requestID: String) -> HTTPResponse {
        switch self {
        case .query:
            let body = XMLAnswer.document(output, to: operation, requestID: requestID)
            return HTTPResponse(.ok, headers: headers(requestID), body: body)
        case .json: return HTTPResponse(.ok, headers: headers(requestID), body: output.json.serialized())
        case .cbor: return HTTPResponse(.ok, headers: headers(requestID), body: output.cbor.serialized)
        }
    }

    func response(_ error: CloudWatchError, requestID: String) -> HTTPResponse {
        let status = HTTPStatus(error.status)
        var headers = headers(requestID)
        let fault = error.status < 500 ? "Sender" : "Receiver"
        // Typed protocols tell by it what the code was before them (Smithy, awsQueryCompatible).
        if self != .query { headers["x-amzn-query-error"] = "\(error.code);\(fault)" }
        let output: CloudWatchValue = [
            "__type": .text("com.amazonaws.cloudwatch#\(error.type)"), "message": .text(error.message),
        ]
        switch self {
        case .query:
            let body = XMLAnswer.document(error, fault: fault, requestID: requestID)
            return HTTPResponse(status, headers: headers, body: body)
        case .json: return HTTPResponse(status, headers: headers, body: output.json.serialized())
        case .cbor: return HTTPResponse(status, headers: headers, body: output.cbor.serialized)
        }
    }

    private func headers(_ requestID: String) -> HTTPHeaders {
        var headers: HTTPHeaders = ["Cache-Control": "no-store", "x-amzn-RequestId": requestID]
        switch self {
        case .query: headers["Content-Type"] = "text/xml"
        case .json: headers["Content-Type"] = "application/x-amz-json-1.0"
        case .cbor: (headers["Content-Type"], headers["smithy-protocol"]) = ("application/cbor", "rpc-v2-cbor")
        }
        return headers
    }
}

extension CloudWatchValue {
    init(_ value: JSONValue) {
        switch value {
        case .null: self = .text("")
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .string(let text): self = .text(text)
        case .array(let elements): self = .list(elements.map(CloudWatchValue.init))
        case .object(let object): self = .structure(object.members.map { Member($0.name, CloudWatchValue($0.value)) })
        }
    }

    /// Times are seconds since 1970.
    var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .bool(let value): .bool(value)
        case .time(let time): .number(time.seconds)
        case .list(let elements): .array(elements.map(\.json))
        case .structure(let members): .object(JSONObject(members.map { ($0.name, $0.value.json) }))
        }
    }

    init(_ value: CBORValue) {
        switch value {
        case .null: self = .text("")
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .number(value)
        case .text(let text): self = .text(text)
        case .bytes(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
        case .array(let elements): self = .list(elements.map(CloudWatchValue.init))
        case .map(let members): self = .structure(members.map { Member($0.name, CloudWatchValue($0.value)) })
        // Of tags only that of time is in the protocol, and its number is read as one.
        case .tagged(_, let value): self = CloudWatchValue(value)
        }
    }

    var cbor: CBORValue {
        switch self {
        case .text(let text): .text(text)
        case .integer(let value): .integer(value)
        case .number(let value): .double(value)
        case .bool(let value): .bool(value)
        case .time(let time): .tagged(CBORValue.epochTime, .double(time.seconds))
        case .list(let elements): .array(elements.map(\.cbor))
        case .structure(let members): .map(members.map { CBORValue.Member($0.name, $0.value.cbor) })
        }
    }
}

extension WallTime {
    var seconds: Double { Double(millisecondsSince1970) / 1_000 }
}
