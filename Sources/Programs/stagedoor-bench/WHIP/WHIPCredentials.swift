import ArgumentParser
import EventLoop
import Foundation
import HTTPClient
import OpenSSL
import Wire

/// Where tokens come from: every publisher and every viewer is a participant of its own.
struct WHIPCredentials: ParsableArguments {
    @Option(help: "A bearer token, used by every stream: for servers that do not tell publishers apart by it.")
    var token: String?
    @Option(help: "File with one bearer token per line.")
    var tokens: String?
    @Option(help: "Control API, such as http://127.0.0.1:9090: stages and tokens are made there, one token for each stream.")
    var admin: String?
    @Option(help: "Access key id for --admin.")
    var accessKey: String?
    @Option(help: "Secret access key for --admin.")
    var secret: String?
    @Option(help: "Region for --admin.")
    var region = "us-east-1"
    @Option(help: "Streams on one stage that --admin makes.")
    var streamsPerStage = 10
    @Option(help: "ARN of a stage: --admin makes tokens to watch it, where it would make stages and tokens to publish.")
    var stage: String?

    /// One token for each stream.
    func tokens(streams: Int?, loop: EventLoop) throws -> [String] {
        if let admin {
            guard let accessKey, let secret else { throw ValidationError("--admin needs --access-key and --secret") }
            let api = ControlAPIClient(loop: loop, url: admin, accessKey: accessKey, secret: secret, region: region)
            if let stage { return try (0..<(streams ?? 1)).map { _ in try api.makeToken(of: stage, "SUBSCRIBE") } }
            return try api.makeTokens(count: streams ?? 1, each: max(1, streamsPerStage))
        }
        var found = token.map { [$0] } ?? []
        if let tokens {
            found += try String(contentsOfFile: tokens, encoding: .utf8).split(whereSeparator: \.isWhitespace).map(String.init)
        }
        guard !found.isEmpty else { throw ValidationError("give --tokens, --token or --admin") }
        return (0..<(streams ?? found.count)).map { found[$0 % found.count] }
    }
}

/// Makes stages and participant tokens by the control API, its requests signed by AWS Signature Version 4.
final class ControlAPIClient {
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    private let loop: EventLoop
    private let http: HTTPClient
    private let url: String
    private let accessKey: String
    private let secret: String
    private let region: String

    init(loop: EventLoop, url: String, accessKey: String, secret: String, region: String) {
        (self.loop, http, self.url) = (loop, HTTPClient(loop: loop), url)
        (self.accessKey, self.secret, self.region) = (accessKey, secret, region)
    }

    /// - Parameter each: tokens of one stage.
    func makeTokens(count: Int, each: Int) throws -> [String] {
        var tokens: [String] = []
        var stage = ""
        while tokens.count < count {
            if tokens.count % each == 0 {
                stage = try text(["stage", "arn"], of: call("CreateStage", ["name": "bench-\(tokens.count / each)"]))
            }
            tokens.append(try makeToken(of: stage, "PUBLISH"))
        }
        return tokens
    }

    func makeToken(of stage: String, _ capability: String) throws -> String {
        let request: [String: Any] = ["stageArn": stage, "capabilities": [capability]]
        return try text(["participantToken", "token"], of: call("CreateParticipantToken", request))
    }

    private func text(_ path: [String], of answer: Any) throws -> String {
        let value = path.reduce(answer as Any?) { ($0 as? [String: Any])?[$1] }
        guard let text = value as? String else { throw Fault(description: "no \(path.joined(separator: ".")) in the answer") }
        return text
    }

    /// Waits a little where the API says that requests come too fast.
    private func call(_ operation: String, _ body: [String: Any]) throws -> Any {
        let bytes = [UInt8](try JSONSerialization.data(withJSONObject: body, options: .withoutEscapingSlashes))
        for _ in 0..<Self.maximumAttempts {
            let response = try answer(to: signed(operation, bytes))
            if response.status == 200 { return try JSONSerialization.jsonObject(with: Data(response.body)) }
            guard response.status == 429 else {
                throw Fault(description: "\(operation): \(response.status) \(String(decoding: response.body, as: UTF8.self))")
            }
            _ = loop.run(until: { false }, within: .milliseconds(200))
        }
        throw Fault(description: "\(operation): still too fast after \(Self.maximumAttempts) attempts")
    }

    private func answer(to request: HTTPClientRequest) throws -> HTTPClientResponse {
        var result: Result<HTTPClientResponse, HTTPClientError>?
        http.send(request) { result = $0 }
        _ = loop.run(until: { result != nil }, within: .seconds(10))
        guard let result else { throw Fault(description: "\(request.url) does not answer") }
        return try result.get()
    }

    private func signed(_ operation: String, _ body: [UInt8]) throws -> HTTPClientRequest {
        guard let host = URL(string: url), let name = host.host() else { throw Fault(description: "“\(url)” is no URL") }
        let bracketed = name.contains(":") ? "[\(name)]" : name
        let authority = host.port.map { "\(bracketed):\($0)" } ?? bracketed
        let stamp = CivilTime(EventLoop.wallNow()).iso8601Basic
        let scope = "\(stamp.prefix(8))/\(region)/ivs/aws4_request"
        let canonical = [
            "POST", "/\(operation)", "", "host:\(authority)", "x-amz-date:\(stamp)", "", "host;x-amz-date",
            String(hexadecimal: Digest.sha256(body)),
        ].joined(separator: "\n")
        let text = ["AWS4-HMAC-SHA256", stamp, scope, String(hexadecimal: Digest.sha256(Array(canonical.utf8)))].joined(
            separator: "\n")
        let key = scope.split(separator: "/").reduce(Array("AWS4\(secret)".utf8)) { HMAC.sha256(key: $0, Array($1.utf8)) }
        let signature = String(hexadecimal: HMAC.sha256(key: key, Array(text.utf8)))
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=host;x-amz-date, Signature=\(signature)"
        let headers = [
            ("Content-Type", "application/json"), ("X-Amz-Date", stamp), ("Authorization", authorization),
        ]
        return HTTPClientRequest(method: "POST", url: "\(url)/\(operation)", headers: headers, body: body)
    }

    /// 20 seconds of waiting.
    private static let maximumAttempts = 100
}
