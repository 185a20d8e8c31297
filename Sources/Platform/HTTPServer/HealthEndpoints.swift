public import EventLoop
import GatewayMetrics
public import HTTP
import JSON
public import Wire

/// `/livez`, `/readyz` and `/metrics`: for orchestrators, balancers and Prometheus. They hold no secrets and need no credentials.
public struct HealthEndpoints: Sendable {
    /// One thing that must hold before traffic is sent here.
    public struct Check: Sendable {
        /// `listeners`, `routers`, `draining`, …
        public var name: String
        /// Why it does not hold; nil when it does.
        public var reason: String?

        /// A check that holds, or does not for that reason.
        public init(_ name: String, failing reason: String? = nil) { (self.name, self.reason) = (name, reason) }
    }

    private let loops: LoopHealth
    private let readiness: @Sendable () -> [Check]
    private let metrics: @Sendable () -> [UInt8]

    /// - Parameters:
    ///   - readiness: is asked at every `/readyz`; it must be quick.
    ///   - metrics: the text of `/metrics`.
    public init(
        loops: LoopHealth, readiness: @escaping @Sendable () -> [Check], metrics: @escaping @Sendable () -> [UInt8]
    ) {
        (self.loops, self.readiness, self.metrics) = (loops, readiness, metrics)
    }

    /// The paths that are ours.
    public static let paths: Set<String> = ["/livez", "/readyz", "/metrics"]

    /// The answer, nil when the path is not one of ours.
    public func response(to request: HTTPRequest) -> HTTPResponse? {
        guard Self.paths.contains(request.path) else { return nil }
        guard request.method == .get || request.method == .head else {
            return ProblemDocument(.methodNotAllowed).response(headers: ["Allow": "GET, HEAD"])
        }
        switch request.path {
        case "/livez":
            let stuck = loops.stuck()
            return Self.report(loops.names.map { Check($0, failing: stuck.contains($0) ? "has been in one turn for 2 s" : nil) })
        case "/readyz": return Self.report(readiness())
        default:
            return HTTPResponse(.ok, headers: ["Content-Type": MetricsRegistry.contentType], body: metrics())
        }
    }

    private static func report(_ checks: [Check]) -> HTTPResponse {
        let failing = checks.filter { $0.reason != nil }
        var reasons = JSONObject()
        for check in failing { reasons[check.name] = .string(check.reason ?? "") }
        var passing: [JSONValue] = []
        for check in checks where check.reason == nil { passing.append(.string(check.name)) }
        return HTTPResponse(
            failing.isEmpty ? .ok : .serviceUnavailable,
            json: ["status": failing.isEmpty ? "ok" : "failing", "failing": .object(reasons), "passing": .array(passing)],
            headers: ["Cache-Control": "no-store"])
    }
}

/// Which event loops are stuck in a turn. Loops join on their threads; `/livez` looks from another.
public final class LoopHealth: Sendable {
    /// A turn that has taken longer is stuck: the longest that are meant take milliseconds.
    public static let longestTurn = Duration.seconds(2)

    private let pulses = Lock<[(name: String, pulse: LoopPulse)]>([])

    /// Nobody has joined yet.
    public init() {}

    /// Watches the loop from now on. One that has ended counts as healthy.
    public func join(_ loop: EventLoop, name: String) {
        let pulse = loop.pulse
        pulses.withLock { $0.append((name, pulse)) }
    }

    /// All loops that have joined.
    public var names: [String] { pulses.withLock { $0.map(\.name) } }

    /// The loops that have been in one turn for longer than `longestTurn`.
    public func stuck(at now: MonotonicTime = EventLoop.monotonicNow()) -> [String] {
        pulses.withLock { $0 }.filter { _, pulse in pulse.turnStart.map { now - $0 > Self.longestTurn } == true }.map(\.name)
    }
}
