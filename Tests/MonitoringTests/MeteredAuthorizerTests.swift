import Admission
import EventLoop
import GatewayMetrics
import Refusals
import Testing
import Wire

@testable import Monitoring

@Suite("Metered authorizer")
struct MeteredAuthorizerTests {
    /// Answers as it was told, at once.
    private struct Fixed: Authorizer {
        let result: Result<PublishGrant, Refusal>

        func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
            reply(result)
        }
    }

    @Test func `verdicts are passed on, and counted by kind of credential`() {
        let registry = MetricsRegistry()
        let grant = PublishGrant(participantID: "p", stageARN: "a", stageID: "s", credentialHash: "h")
        let key = PublishRequest(
            credential: .streamKey(Secret("k")), ingestProtocol: .rtmp, source: MonitoringBench.source, userAgent: "")
        let token = PublishRequest(
            credential: .token(Secret("t")), ingestProtocol: .whip, source: MonitoringBench.source, userAgent: "")
        let (refusal, verdicts) = (Refusal(.tokenExpired), Lock<[Result<PublishGrant, Refusal>]>([]))
        for (request, verdict) in [(key, Result<PublishGrant, Refusal>.success(grant)), (token, .failure(refusal))] {
            MeteredAuthorizer(Fixed(result: verdict), metrics: registry).authorize(request) { passed in
                verdicts.withLock { $0.append(passed) }
            }
        }
        #expect(verdicts.withLock { $0 } == [.success(grant), .failure(refusal)])
        let text = String(decoding: registry.exposition(), as: UTF8.self)
        #expect(text.contains(#"stagedoor_auth_result_total{result="granted",source="stream_key"} 1"#))
        #expect(text.contains(#"stagedoor_auth_result_total{result="refused",source="token"} 1"#))
        #expect(text.contains(#"stagedoor_auth_seconds_count{source="token"} 1"#))
    }
}
