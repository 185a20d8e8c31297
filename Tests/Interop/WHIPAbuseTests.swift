import Foundation
import Testing

extension Interop {
    /// What no honest client does to the media port and the HTTP side, and what restless ones do: each has its expected result,
    /// and a stream beside it is whole.
    @Suite struct WHIPAbuse {
        /// The functions of `whip_abuse.py`.
        static let atMediaPort = [
            "hello_from_a_third_address", "null_cipher", "wrong_integrity", "check_from_a_new_address", "replay", "forged",
            "many_sources", "plain_control", "lying_lengths", "delete_racing_the_hello", "three_pairs",
            "restart_to_another_address",
            "rebinding",
            "gone_without_a_word",
        ]
        /// The functions of `whip_http_abuse.py`.
        static let byHTTP = [
            "descriptions", "many_posts", "slowly", "smuggling", "unusual_requests", "others_sessions", "tokens",
            "no_descriptors_left",
        ]

        @Test(.timeLimit(.minutes(10)), arguments: atMediaPort)
        func `at the media port`(abuse: String) throws {
            // Who goes without a word is let go after that.
            let consent = abuse == "gone_without_a_word" ? "10s" : "60s"
            let gateway = try Gateway(configuration: "workers: {count: 4}\nwhip: {consentTimeout: \(consent)}")
            let metrics = "\(try #require(gateway.quickstart.adminURL))/metrics"
            try Self.expectAnswered(gateway, "whip_abuse.py", abuse, [metrics, try gateway.makeToken()])
        }

        @Test(.timeLimit(.minutes(10)), arguments: byHTTP)
        func `by HTTP`(abuse: String) throws {
            let gateway = try Gateway()
            try Self.expectAnswered(gateway, "whip_http_abuse.py", abuse, [try gateway.makeToken()])
        }

        private static func expectAnswered(_ gateway: Gateway, _ script: String, _ abuse: String, _ more: [String]) throws {
            let quickstart = gateway.quickstart
            let stream = try WatchedStreams(.whip, 1, at: gateway)
            let line = [
                "env", "GATEWAY_PID=\(gateway.pid)", "SECURE_PORT=\(try gateway.securePort())", WHIP.python,
                Workspace.package.appending(path: "Tests/Interop/Clients/\(script)").path, abuse,
                try #require(quickstart.whipURL), try #require(quickstart.whipToken),
            ]
            let run = try ProgramRun(line + more)
            #expect(run.status(within: .seconds(430)) == 0, "\(run.output)\n\(gateway.log.suffix(2_000))")
            print(abuse, run.output, separator: "\n")
            try stream.expectWhole(besides: nil, dropped: gateway.droppedDatagrams)
            // Whatever a client calls itself: a line of the log is one JSON object.
            for line in gateway.log.split(separator: "\n") where line.hasPrefix("{") {
                #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
            }
            gateway.stop()
        }
    }
}

extension Gateway {
    /// A token of another participant on the demo stage, made through the control API by the AWS SDK.
    func makeToken() throws -> String { try #require(makeTokens(1).first) }

    /// One of so many other participants each.
    func makeTokens(_ count: Int) throws -> [String] {
        let client = Workspace.package.appending(path: "Tests/Interop/Clients/participant_token.py").path
        let tokens = try ProgramRun.output(
            of: [
                Interop.WHIP.python, client, try #require(quickstart.adminURL), try #require(quickstart.accessKeyId),
                try #require(quickstart.secretAccessKey), quickstart.region ?? "us-east-1", try #require(quickstart.stageArn),
                "\(count)",
            ], within: .seconds(300))
        return tokens.split(whereSeparator: \.isWhitespace).map(String.init)
    }
}
