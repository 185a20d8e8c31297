import EventLoop
import GatewayMetrics
import Sockets

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
