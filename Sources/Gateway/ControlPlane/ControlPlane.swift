public import EventLoop
public import HTTP
import JSON
import Settings
public import Store
public import Wire

/// The control API: the rest-json protocol of `ivs-realtime`, as the AWS CLI and SDKs speak it. Confined to its loop.
public final class ControlPlane {
    /// What the API works with.
    public struct Environment: Sendable {
        public var store: any GatewayStore
        public var leases: any LeaseControl
        public var authority: TokenAuthority
        /// Told of each new state of the store.
        public var observers = StateObservers()
        /// Whether somebody watches as that participant, at any node.
        public var isWatching: @Sendable (StageParticipant) -> Bool = { _ in false }
        /// Tries whether recordings can be written to a bucket; there are none unless it says so.
        public var tryBucket: BucketTrial = { $1(.unknown) }
        public var wallNow: @Sendable () -> WallTime = { EventLoop.wallNow() }

        public init(store: any GatewayStore, leases: any LeaseControl, authority: TokenAuthority) {
            (self.store, self.leases, self.authority) = (store, leases, authority)
        }
    }

    private let loop: EventLoop
    private var context: OperationContext
    private var operations: ControlOperations
    private var access: AdminAccess
    private var console = ConsoleSignIn()
    private var limiter: RateLimiter
    let wallNow: @Sendable () -> WallTime
    private let replies: ReplyBox
    private var housekeeping: TimerWatch?

    /// - Throws: when the system gives no more descriptors.
    public init(loop: EventLoop, settings: ControlPlaneSettings, _ environment: Environment) throws(SystemError) {
        (self.loop, wallNow) = (loop, environment.wallNow)
        context = OperationContext(settings, environment)
        operations = ControlOperations(context)
        (access, limiter) = (AdminAccess(settings), RateLimiter(settings.rates))
        replies = try ReplyBox(loop: loop)
        housekeeping = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .seconds(1)) {
            [leases = environment.leases, replications = context.replications] in
            leases.endIdleSessions()
            replications.expire(at: EventLoop.monotonicNow())
        }
    }

    /// Puts other keys, rates and quotas into force, for the requests that come from now on.
    public func apply(_ settings: ControlPlaneSettings) {
        context.settings = settings
        operations = ControlOperations(context)
        (access, limiter) = (AdminAccess(settings), RateLimiter(settings.rates))
    }

    /// Whether the path is one of the API's, or could be.
    public static func serves(_ path: String) -> Bool { path.hasPrefix("/tags/") || Operation.isAddress(path) }

    /// Checks that the request may be made at all; for other addresses of the admin listener.
    ///
    /// - Parameters:
    ///   - action: nil for what any access key may ask.
    ///   - stage: the ARN of the only stage that it concerns; nil where it concerns none, or more. Asked only where that decides.
    /// - Returns: the refusal to answer with, or nil.
    public func refusal(of request: HTTPRequest, for action: AccessAction?, on stage: () -> String? = { nil }) -> HTTPResponse? {
        do throws(APIError) {
            try access.check(request, for: action, console.sessions, now: wallNow()) { [stage() ?? AccessPolicy.noStage] }
            return nil
        } catch {
            return error.response
        }
    }

    /// For an answer that goes on, such as a stream, to a request that may be made.
    /// - Returns: a closure that says whether the request's access key may still ask for it and, if it came by a session at the
    ///   console, whether that session goes on.
    public func standing(of request: HTTPRequest, for action: AccessAction) -> () -> Bool {
        guard access.demandsSignature else { return { true } }
        let caller = try? access.check(request, for: action, console.sessions, now: wallNow()) { [AccessPolicy.noStage] }
        guard let key = caller.flatMap({ access.accessKey($0) }) else { return { false } }
        let isSigned = request.headers["Authorization"] != nil
        return { [weak self] in
            guard let self, self.access.admits(key, for: action) else { return false }
            return isSigned || self.console.sessions.session(of: request, now: self.wallNow()) != nil
        }
    }

    /// Checks that an operation of CloudWatch's API may be asked now. Each of CloudWatch's protocols words errors in its own way,
    /// so the refusal comes as a value.
    /// - Parameter stages: ARNs of the stages that the operation concerns; one of them is empty where it concerns others too.
    public func metricsRefusal(of request: HTTPRequest, for action: AccessAction, on stages: [String]) -> AccessRefusal? {
        do throws(APIError) {
            let caller = try access.check(request, for: action, console.sessions, now: wallNow()) { stages }
            guard limiter.admitMetrics(action, of: caller, at: loop.now) else { throw .throttled }
            return nil
        } catch {
            return AccessRefusal(type: error.type, status: error.status.code, message: error.message)
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

    /// Answers whoever signs in at the console, or out; nil for other paths.
    public func consoleSession(_ request: HTTPRequest) -> HTTPResponse? {
        request.path == ConsoleSignIn.path ? console.answer(request, access, now: wallNow()) : nil
    }

    /// Answers one request on the loop, at once or later.
    public func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void) {
        loop.assertOnLoop()
        do throws(APIError) {
            let call = try OperationCall(request)
            let caller = try access.check(request, for: AccessAction(call.operation), console.sessions, now: wallNow()) {
                () throws(APIError) in try call.stages(of: request, in: context.store.state)
            }
            guard limiter.admit(call.operation, of: caller, at: loop.now) else { throw .throttled }
            replies.ask { reply in
                operations.run(call, request) { reply($0) }
            } then: { (result: Result<JSONObject, APIError>?) in
                switch result ?? .failure(.internalError) {
                case .success(let output):
                    respond(HTTPResponse(.ok, json: .object(output), headers: APIHeaders.ofOneAnswer()))
                case .failure(let error): respond(error.response)
                }
            }
        } catch {
            respond(error.response)
        }
    }
}
