import EventLoop
import Store

/// Notes every day that the endpoints are still those that tokens are handed out with. On the control loop.
///
/// Noted at the start alone, those of a process that ran for a month would be too old for its tokens
/// of yesterday once they change.
final class EndpointsInUse {
    private let timer: TimerWatch

    init(
        loop: EventLoop, store: any GatewayStore, endpoints: StageEndpoints, interval: Duration = .seconds(86_400)
    ) {
        timer = loop.schedule(after: interval, repeating: interval, tolerance: min(interval, .seconds(60))) {
            // What fails is noted tomorrow.
            store.write {
                _ = EndpointHistory(endpoints, in: &$0, now: EventLoop.wallNow())
            } reply: { _ in
            }
        }
    }
}
