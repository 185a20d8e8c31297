import Admission
import EventLoop
import HTTPServer
import Settings

/// What `/readyz` asks.
struct Readiness: Sendable {
    let gate: AdmissionGate
    /// Nil where the node needs no servers to let publishes in.
    let cluster: ClusterContext?

    init(_ gate: AdmissionGate, _ membership: Membership, _ settings: ClusterSettings) {
        self.gate = gate
        cluster = if case .member(let cluster) = membership, settings.degraded == .refuse { cluster } else { nil }
    }

    var checks: [HealthEndpoints.Check] {
        [
            HealthEndpoints.Check("draining", failing: gate.isLeaving ? "the node goes away" : nil),
            HealthEndpoints.Check("cluster", failing: cluster?.fault.withLock { $0 }),
            HealthEndpoints.Check("overload", failing: gate.closure == .overloaded ? "new publishes are refused" : nil),
        ]
    }
}
