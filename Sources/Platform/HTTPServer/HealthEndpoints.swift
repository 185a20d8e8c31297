public import HTTP
import JSON

/// `/livez`, `/readyz` and `/metrics`: for orchestrators, balancers and Prometheus. They tell no secrets and ask for nothing.
public struct HealthEndpoints: Sendable {
    /// One thing that must hold before traffic is sent here.
    public struct Check: Sendable {
        /// `listeners`, `routers`, `draining`, …
        public var name: String
        /// Why it does not hold; nil when it does.
        public var reason: String?

        public init(_ name: String, failing reason: String? = nil) { (self.name, self.reason) = (name, reason) }
    }

    private let heartbeats: Heartbeats
    private let readiness: @Sendable () -> [Check]
    private let metrics: @Sendable () -> [UInt8]

    /// - Parameters:
    ///   - readiness: is asked at every `/readyz`; it must be quick.
    ///   - metrics: the text of `/metrics`.
    public init(
        heartbeats: Heartbeats, readiness: @escaping @Sendable () -> [Check], metrics: @escaping @Sendable () -> [UInt8]
    ) {
        (self.heartbeats, self.readiness, self.metrics) = (heartbeats, readiness, metrics)
    }

    public static let paths: Set<String> = ["/livez", "/readyz", "/metrics"]

    /// The answer, nil when the path is not one of ours.
    public func response(to request: HTTPRequest) -> HTTPResponse? {
        guard Self.paths.contains(request.path) else { return nil }
        guard request.method == .get || request.method == .head else {
            return ProblemDocument(.methodNotAllowed).response(headers: ["Allow": "GET, HEAD"])
        }
        switch request.path {
        case "/livez":
            let stuck = heartbeats.stuck()
            return Self.report(heartbeats.names.map { Check($0, failing: stuck.contains($0) ? "has not turned for 2 s" : nil) })
        case "/readyz": return Self.report(readiness())
        default:
            return HTTPResponse(.ok, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"], body: metrics())
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
