public import Admission
import EventLoop
public import GatewayMetrics
public import Refusals
import Wire

/// Counts what becomes of credentials, and how long it takes to know: in front of any authorizer.
public final class MeteredAuthorizer: Authorizer {
    private let authorizer: any Authorizer
    private let keys: Series
    private let tokens: Series

    private struct Series: Sendable {
        let seconds: Histogram
        let granted: Counter
        let refused: Counter

        init(_ registry: MetricsRegistry, source: String) {
            seconds = registry.histogram(
                "stagedoor_auth_seconds", "Time from an encoder's credential to the verdict on it.", ["source": source])
            func result(_ result: String) -> Counter {
                registry.counter(
                    "stagedoor_auth_result_total", "Credentials found good, and refused.", ["source": source, "result": result])
            }
            (granted, refused) = (result("granted"), result("refused"))
        }
    }

    public init(_ authorizer: any Authorizer, metrics: MetricsRegistry) {
        self.authorizer = authorizer
        (keys, tokens) = (Series(metrics, source: "stream_key"), Series(metrics, source: "token"))
    }

    public func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
        let began = EventLoop.monotonicNow()
        let series =
            switch request.credential {
            case .streamKey: keys
            case .token: tokens
            }
        authorizer.authorize(request) { result in
            series.seconds.observe(EventLoop.monotonicNow() - began)
            switch result {
            case .success: series.granted.increment()
            case .failure: series.refused.increment()
            }
            reply(result)
        }
    }
}
