public import GatewayMetrics

/// What became of connections at the shared port. Shared by all workers; labels come from fixed sets.
public final class SharedPortMetrics: Sendable {
    private let handed: [ConnectionKind: Counter]
    private let closed: [String: Counter]

    public init(_ registry: MetricsRegistry) {
        handed = ConnectionKind.allCases.reduce(into: [:]) { counters, kind in
            counters[kind] = registry.counter(
                "stagedoor_shared_connections_total", "Connections of the shared port, by what they turned out to be.",
                ["kind": kind.rawValue])
        }
        closed = (Introduction.Fault.allCases.map(\.rawValue) + SharedPort.Ending.allCases.map(\.rawValue))
            .reduce(into: [:]) { counters, reason in
                counters[reason] = registry.counter(
                    "stagedoor_shared_closed_total", "Connections of the shared port that ended before they were anybody's.",
                    ["reason": reason])
            }
    }

    func countHanded(_ kind: ConnectionKind) { handed[kind]?.increment() }
    func countClosed(_ reason: String) { closed[reason]?.increment() }
}
