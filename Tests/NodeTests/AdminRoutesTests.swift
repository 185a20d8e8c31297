import Console
import ControlPlane
import HTTP
import Settings
import Testing
import Wire

@testable import Node

@Suite
struct AdminRoutesTests {
    private let routes = AdminRoutes(pages: ConsolePages.paths, isOperation: ControlPlane.serves)

    private func match(_ method: HTTPMethod, _ target: String) throws -> AdminRoutes.Match {
        let parsed = try #require(HTTPRequestTarget(target))
        return routes.match(HTTPRequest(method: method, target: parsed, rawTarget: target, headers: [:], body: []))
    }

    @Test(arguments: [
        (HTTPMethod.get, "/livez", AdminAction.health, AdminCaller.anybody, [String]()),
        (.head, "/readyz", .health, .anybody, []),
        (.get, "/metrics", .metrics, .metricsReader, []),
        (.get, "/", .page, .anybody, []),
        (.get, "/console/console.js", .page, .anybody, []),
        (.post, "/v1/console/session", .consoleSession, .anybody, []),
        (.get, "/v1/drain", .drain(.show), .key(.getDrain), []),
        (.post, "/v1/drain", .drain(.begin), .key(.startDrain), []),
        (.delete, "/v1/drain", .drain(.cancel), .key(.stopDrain), []),
        (.post, "/v1/undrain", .drain(.cancel), .key(.stopDrain), []),
        (.get, "/v1/events", .events, .key(.getEvents), []),
        (.get, "/v1/overview", .overview, .key(.getOverview), []),
        (.get, "/v1/overv%69ew", .overview, .key(.getOverview), []),
        (.get, "/v1/sessions", .sessions, .key(.listSessions), []),
        (.get, "/v1/sessions/n1-0-7", .session, .key(.getSession), ["n1-0-7"]),
        (.get, "/v1/sessions/a%2Fb", .session, .key(.getSession), ["a/b"]),
        (.get, "/v1/stages/s1/metrics?minutes=5", .stageMetrics, .key(.getStageMetrics), ["s1"]),
        (.get, "/v1/ingestConfigurations/c1/obs", .obsConfiguration, .key(.exportEncoderSettings), ["c1"]),
        (.head, "/v1/participants/p1/sdp", .description, .key(.getDescription), ["p1"]),
        (.get, "/v1/participants/p1/source", .source(.show), .key(.getSource), ["p1"]),
        (.post, "/v1/participants/p1/source", .source(.change), .key(.switchSource), ["p1"]),
        (.get, "/v1/stages/s1/participants/p1/sdp", .description, .key(.getDescription), ["s1", "p1"]),
        (.get, "/v1/stages/s1/participants/p1/thumbnail", .thumbnail, .key(.getThumbnail), ["s1", "p1"]),
        (
            .get, "/v1/stages/s1/sessions/x/participants/p1/recording/media/hls/high/1.mp4", .recording(folder: "media/hls/high"),
            .key(.getRecording), ["s1", "x", "p1", "1.mp4"]
        ),
        (.post, "/CreateStage", .operation, .judgedByAPI, []),
        (.get, "/CreateStage", .operation, .judgedByAPI, []),
        (.post, "/RevokeConnectionToken", .operation, .judgedByAPI, []),
        (.delete, "/tags/arn", .operation, .judgedByAPI, []),
        (.post, "/", .cloudWatch, .judgedByAPI, []),
        (.post, "/service/GraniteServiceVersion20100801/operation/ListMetrics", .cloudWatch, .judgedByAPI, ["ListMetrics"]),
    ])
    func `an address has one meaning, for whom it says`(
        method: HTTPMethod, target: String, action: AdminAction, caller: AdminCaller, taken: [String]
    ) throws {
        #expect(try match(method, target) == .found(action, for: caller, taken))
    }

    @Test(arguments: [
        (HTTPMethod.post, "/livez", AdminCaller.anybody, "GET, HEAD"), (.put, "/metrics", .metricsReader, "GET, HEAD"),
        (.put, "/", .judgedByAPI, "POST, GET, HEAD"), (.put, "/v1/console/session", .anybody, "GET, POST, DELETE"),
        (.put, "/v1/drain", .key(.getDrain), "GET, POST, DELETE"), (.get, "/v1/undrain", .key(.stopDrain), "POST"),
        (.head, "/v1/events", .key(.getEvents), "GET"), (.post, "/v1/overview", .key(.getOverview), "GET, HEAD"),
        (.delete, "/v1/sessions/x", .key(.getSession), "GET, HEAD"),
    ])
    func `another method is told which ones there are, who may not ask at all is not`(
        method: HTTPMethod, target: String, caller: AdminCaller, allowed: String
    ) throws {
        let match = try match(method, target)
        guard case .notAllowed(caller, let methods) = match else { return #expect(Bool(false), "\(match)") }
        #expect(methods.map(\.rawValue).joined(separator: ", ") == allowed)
    }

    @Test(arguments: [
        ("/v1/", AdminCaller.anyKey), ("/v1/nothing", .anyKey), ("/v1/sessions/a/b", .anyKey), ("/v1/sessions/", .anyKey),
        ("/v1/stages/s1", .anyKey), ("/v1/sessions/%ff", .anyKey), ("/nothing", .anybody), ("/livez/", .anybody),
        ("/console/other.js", .anybody), ("/CreateStage/", .anybody), ("/Create.php", .anybody), ("//CreateStage", .anybody),
    ])
    func `what is under v1 and what is not is told to those with a key alone`(target: String, caller: AdminCaller) throws {
        let match = try match(.get, target)
        if target == "/v1/sessions/" {
            #expect(match == .found(.session, for: .key(.getSession), [""]), "an id that no session has")
        } else {
            #expect(match == .unknown(for: caller))
        }
    }

    @Test
    func `nothing that changes something is anybody's, or a read-only key's`() {
        for route in routes.routes where !Set(route.methods).isSubset(of: [.get, .head]) {
            if case .key(let action) = route.caller, !action.isReading { continue }
            #expect([.consoleSession, .cloudWatch].contains(route.action), "\(route.path)")
        }
    }

    @Test
    func `no two rows answer one method of one path`() {
        var seen: Set<String> = []
        for route in routes.routes {
            for method in route.methods { #expect(seen.insert("\(method) \(route.path)").inserted, "\(method) \(route.path)") }
        }
    }
}

@Suite("Who may read the metrics off loopback")
struct MetricsReaderTests {
    @Test(arguments: [
        ("Bearer hunter22", 200), ("Bearer wrong", 401), ("", 401), ("AWS4-HMAC-SHA256 Credential=A/x", 200),
    ])
    func `who shows nothing is told what to show, whatever address it asks`(_ authorization: String, _ status: Int) throws {
        var settings = MetricsSettings()
        settings.token = Secret("hunter22")
        let target = try #require(HTTPRequestTarget("/metrics"))
        let headers: HTTPHeaders = authorization.isEmpty ? ["Host": "10.1.2.3"] : ["Authorization": authorization]
        let request = HTTPRequest(method: .get, target: target, rawTarget: "/metrics", headers: headers, body: [])
        let answer = settings.refusal(of: request)
        #expect(Int(answer?.status.code ?? 200) == status)
        #expect(answer == nil || String(decoding: answer?.body ?? [], as: UTF8.self).contains("metrics.token"))
    }
}
