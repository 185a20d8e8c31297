public import EventLoop
public import HTTP
import JSON
import Settings
public import Store
public import Wire

/// The control API: the rest-json protocol of `ivs-realtime`, as the AWS CLI and SDKs speak it. Confined to its loop.
public final class ControlPlane {
    private let loop: EventLoop
    private var operations: ControlOperations
    private(set) var access: AdminAccess
    var sessions = ConsoleSessions()
    private var limiter: RateLimiter
    let wallNow: @Sendable () -> WallTime
    /// Requests whose answer is still being made, by number.
    private var waiting: [Int: (HTTPResponse) -> Void] = [:]
    private var lastNumber = 0
    private var answers: Mailbox<Answer>?
    private var housekeeping: TimerWatch?

    private struct Answer: Sendable {
        var number: Int
        var response: HTTPResponse
    }

    /// - Parameter isWatching: whether somebody watches as that participant, at whatever node.
    /// - Throws: when the system gives no more descriptors.
    public init(
        loop: EventLoop, settings: ControlPlaneSettings, store: any GatewayStore, leases: any LeaseControl,
        authority: TokenAuthority, isWatching: @escaping @Sendable (StageParticipant) -> Bool = { _ in false },
        wallNow: @escaping @Sendable () -> WallTime = { EventLoop.wallNow() }
    ) throws(SystemError) {
        (self.loop, self.wallNow) = (loop, wallNow)
        operations = ControlOperations(
            settings: settings, store: store, leases: leases, authority: authority, isWatching: isWatching, wallNow: wallNow)
        (access, limiter) = (AdminAccess(settings), RateLimiter(settings.rates))
        answers = try Mailbox(loop: loop) { [unowned self] in
            waiting.removeValue(forKey: $0.number)?($0.response)
        }
        housekeeping = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .seconds(1)) {
            leases.endIdleSessions()
        }
    }

    /// Puts other keys, rates and quotas into force, for the requests that come from now on.
    public func apply(_ settings: ControlPlaneSettings) {
        operations.settings = settings
        (access, limiter) = (AdminAccess(settings), RateLimiter(settings.rates))
    }

    /// Whether the path is one of the API's.
    public static func serves(_ path: String) -> Bool {
        path.hasPrefix("/tags/") || Operation(rawValue: String(path.dropFirst())) != nil
    }

    /// Checks that the request may be made at all; for other addresses of the admin listener.
    ///
    /// - Returns: the refusal to answer with, or nil.
    public func refusal(of request: HTTPRequest, isReading: Bool) -> HTTPResponse? {
        do {
            try access.check(request, isReading: isReading, sessions, now: wallNow())
            return nil
        } catch {
            return error.response
        }
    }

    /// Checks the host alone, before anything else is looked at: a page that rebinds its own name to us gets nothing.
    /// - Parameter isHealth: for probes and scrapers, which name us by any of our addresses, or not at all.
    public func hostRefusal(of request: HTTPRequest, isHealth: Bool) -> HTTPResponse? {
        do {
            if isHealth { try access.checkHealthHost(of: request) } else { try access.checkHost(of: request) }
            return nil
        } catch {
            return error.response
        }
    }

    /// Answers one request, later and on the loop.
    public func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void) {
        loop.assertOnLoop()
        do throws(APIError) {
            let call = try Call(request)
            try access.check(request, isReading: call.operation.isReadOnly, sessions, now: wallNow())
            guard limiter.admit(call.operation, at: loop.now) else { throw .throttled }
            try run(call, request, respond)
        } catch {
            respond(error.response)
        }
    }

    private func run(_ call: Call, _ request: HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) throws(APIError) {
        let reply = reply(respond)
        switch call.operation {
        case .tagResource: operations.tagResource(call.resource, try Input(body: request.body), reply)
        case .untagResource:
            let keys = request.queryItems.items.filter { $0.name == "tagKeys" }.map(\.value)
            operations.untagResource(call.resource, keys: keys, reply)
        case .listTagsForResource: operations.listTags(call.resource, reply)
        default: operations.run(call.operation, try Input(body: request.body), reply)
        }
    }

    private func reply(_ respond: @escaping (HTTPResponse) -> Void) -> ControlOperations.Reply {
        lastNumber += 1
        let number = lastNumber
        waiting[number] = respond
        let sender = answers?.sender
        return { result in
            let response =
                switch result {
                case .success(let output): HTTPResponse(.ok, json: .object(output))
                case .failure(let error): error.response
                }
            sender?.send(Answer(number: number, response: response))
        }
    }
}

/// Which operation a request means.
private struct Call {
    var operation: Operation
    /// The ARN in the path of tag operations.
    var resource = ""

    init(_ request: HTTPRequest) throws(APIError) {
        if request.path.hasPrefix("/tags/") {
            guard let arn = PercentEncoding.decode(request.path.dropFirst("/tags/".count)) else {
                throw .validation("resourceArn is not percent-encoded UTF-8.")
            }
            resource = arn
            switch request.method {
            case .post: operation = .tagResource
            case .delete: operation = .untagResource
            case .get: operation = .listTagsForResource
            default: throw Self.unknown
            }
            return
        }
        guard request.method == .post, let operation = Operation(rawValue: String(request.path.dropFirst())),
            ![.tagResource, .untagResource, .listTagsForResource].contains(operation)
        else { throw Self.unknown }
        self.operation = operation
    }

    private static let unknown = APIError(
        type: "UnknownOperationException", status: 404, message: "There is no such operation.")
}
