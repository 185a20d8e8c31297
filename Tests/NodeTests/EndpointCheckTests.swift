import DataDirectory
import EventLoop
import Foundation
import GatewayMetrics
import Refusals
import Settings
import Store
import TestSupport
import Testing
import Wire

@testable import Node

/// `tokens.endpointCheck`, from the words in the file to the verifier that every thread of the node asks.
@Suite
struct EndpointCheckTests {
    /// What a node makes of a file, as far as the tokens.
    private final class Bench {
        private let folder: TemporaryDirectory
        private let directory: DataDirectory
        private let store: NodeStore
        private let tokens: TokenVerifier

        init(_ file: String) throws {
            folder = try TemporaryDirectory()
            let path = folder.path + "/stagedoor.yaml"
            try file.write(toFile: path, atomically: true, encoding: .utf8)
            let configuration = try ConfigurationSource(
                path: path, directory: folder.path + "/data", isQuickstart: true
            ).read()
            let directory = try DataDirectory(at: folder.path + "/data")
            let ours = StageEndpoints(events: "wss://ours", whip: "https://ours/whip", rtmp: "", rtmps: "")
            store = try NodeStore(
                configuration, endpoints: ours, directory: directory, isQuickstart: true, sparing: [])
            tokens = try SharedAdmission(configuration, store, metrics: MetricsRegistry()).tokens
            self.directory = directory
        }

        deinit {
            tokens.stop()
            store.stop()
        }

        /// As when the node ends.
        func endTokens() { tokens.stop() }

        /// A genuine token of the demo stage that names those endpoints.
        func token(events: String, whip: String) throws -> Secret {
            let endpoints = StageEndpoints(events: events, whip: whip, rtmp: "", rtmps: "")
            let stage = try #require(store.quickstart).stage.arn
            return try store.authority.mint(
                TokenAuthority.Request(), stageARN: stage, endpoints: endpoints, now: EventLoop.wallNow()
            ).token
        }

        func refusal(of token: Secret) -> RefusalCode? {
            let answer = Lock<Result<VerifiedToken, Refusal>?>(nil)
            let isAnswered = DispatchSemaphore(value: 0)
            tokens.verify(token, source: .loopback) { verdict in
                answer.withLock { $0 = verdict }
                isAnswered.signal()
            }
            isAnswered.wait()
            if case .failure(let refusal) = answer.withLock({ $0 }) { return refusal.code }
            return nil
        }
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("overload: {cpu: 85}", RefusalCode.tokenRejected as RefusalCode?),
            ("tokens: {endpointCheck: strict}", .tokenRejected),
            ("tokens: {endpointCheck: lenient}", nil),
        ])
    func `a token for another service's endpoints is good where the file says lenient alone`(
        file: String, refusal: RefusalCode?
    ) throws {
        let bench = try Bench(file)
        #expect(try bench.refusal(of: bench.token(events: "wss://ours", whip: "https://ours/whip")) == nil)
        let foreign = try bench.token(
            events: "wss://global.events.live-video.net", whip: "https://global.whip.live-video.net")
        #expect(bench.refusal(of: foreign) == refusal)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a node that ends leaves no thread that looks at tokens`() throws {
        let bench = try Bench("tokens: {endpointCheck: strict}")
        let token = try bench.token(events: "wss://ours", whip: "https://ours/whip")
        bench.endTokens()
        #expect(bench.refusal(of: token) == .draining)
    }
}
