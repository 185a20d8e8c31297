public import EventLoop
public import HTTP
import JSON
import Synchronization
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

/// When each event loop last turned. Loops beat on their threads; `/livez` looks from another.
public final class Heartbeats: Sendable {
    /// How often loops beat.
    static let interval = Duration.seconds(1)
    /// Without a beat for that long a loop counts as stuck.
    public static let maximumAge = Duration.seconds(2)

    private final class Beat: Sendable {
        let name: String
        let nanoseconds: Atomic<Int64>

        init(name: String, at now: MonotonicTime) {
            self.name = name
            nanoseconds = Atomic(now.nanoseconds)
        }
    }

    private let beats = Lock<[Beat]>([])

    /// Nobody has joined yet.
    public init() {}

    /// Beats for the loop as long as the watch is kept. Call it on the loop's thread.
    public func join(_ loop: EventLoop, name: String) -> Watch {
        let beat = Beat(name: name, at: EventLoop.monotonicNow())
        beats.withLock { $0.append(beat) }
        return loop.schedule(after: Self.interval, repeating: Self.interval, tolerance: Self.interval) { [unowned loop] in
            beat.nanoseconds.store(loop.now.nanoseconds, ordering: .relaxed)
        }
    }

    /// All loops that have joined.
    public var names: [String] { beats.withLock { $0 }.map(\.name) }

    /// The loops that have not turned for `maximumAge`.
    public func stuck(at now: MonotonicTime = EventLoop.monotonicNow()) -> [String] {
        beats.withLock { $0 }.filter {
            now - MonotonicTime(nanoseconds: $0.nanoseconds.load(ordering: .relaxed)) > Self.maximumAge
        }.map(\.name)
    }
}
