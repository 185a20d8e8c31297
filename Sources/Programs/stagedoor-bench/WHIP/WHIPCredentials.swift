import ArgumentParser
import EventLoop
import Foundation

/// Where the publishers' tokens come from: every publisher is a participant of its own.
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

    /// One token for each stream.
    func tokens(streams: Int?, loop: EventLoop) throws -> [String] {
        if let admin {
            guard let accessKey, let secret else { throw ValidationError("--admin needs --access-key and --secret") }
            let api = ControlAPIClient(loop: loop, url: admin, accessKey: accessKey, secret: secret, region: region)
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
