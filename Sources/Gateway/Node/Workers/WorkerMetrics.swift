import EventLoop
import GatewayMetrics
import Sockets
import WebRTCTransport

/// What TLS and DTLS handshakes cost on a worker, and how long they wait for their turn (docs/design.md 4.5).
enum HandshakeMetrics {
    static func watch(_ loop: EventLoop, name: String, in registry: MetricsRegistry) {
        let labels: MetricLabels = ["loop": name]
        let wait = registry.histogram(
            "stagedoor_handshake_wait_seconds", "How long each step of a handshake waited for its turn.", labels)
        let cost = registry.histogram(
            "stagedoor_handshake_cpu_seconds", "CPU time of each step of a handshake.", bounds: Histogram.turnSeconds, labels)
        HandshakeScheduler.of(loop).onStep = { waited, cpu in
            wait.observe(waited)
            cost.observe(cpu)
        }
    }
}

/// How much of the media port's work each worker does: the kernel spreads it by the peers' addresses.
enum MediaSocketMetrics {
    private static let interval = Duration.seconds(1)

    /// Reports every second or two as long as the watch is kept.
    static func watch(_ port: MediaPort, on loop: EventLoop, name: String, in registry: MetricsRegistry) -> Watch {
        let received = registry.counter(
            "stagedoor_media_datagrams_total", "Datagrams taken from the media socket.", ["loop": name])
        var counted = port.counters.received
        return loop.schedule(after: interval, repeating: interval, tolerance: interval) { [unowned port] in
            received.increment(by: port.counters.received - counted)
            counted = port.counters.received
        }
    }
}
