import EventLoop
import GatewayMetrics
import Sockets
import WebRTCTransport

/// How much of the media port's work each worker does: the kernel spreads it by the peers' addresses.
enum MediaSocketMetrics {
    private static let interval = Duration.seconds(1)

    /// Reports every second or two as long as the watch is kept.
    static func watch(_ port: MediaPort, on loop: EventLoop, name: String, in registry: MetricsRegistry) -> Watch {
        let received = registry.counter(
            "stagedoor_media_datagrams_total", "Datagrams taken from the media socket.", ["loop": name])
        var told = port.counters.received
        return loop.schedule(after: interval, repeating: interval, tolerance: interval) { [unowned port] in
            received.increment(by: port.counters.received - told)
            told = port.counters.received
        }
    }
}
