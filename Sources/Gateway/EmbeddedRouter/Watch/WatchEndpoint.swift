import Admission
public import EventLoop
public import HTTP
public import HTTPServer
import Refusals
import WebRTCTransport
import Wire

/// The watch page on one worker's public HTTP listeners: `/watch/{stageId}`, its files, and the events that say who is live.
///
/// The page is for everybody; who is live is told to tokens with the SUBSCRIBE capability alone. They are asked again while the
/// stream lives, so that an expired token ends it; one that was taken away ends it at once (`ViewerRegistry`). Confined to the
/// worker's loop.
public final class WatchEndpoint {
    let loop: EventLoop
    let board: StageBoard
    private let viewers: ViewerRegistry
    private let authorizer: any SubscribeAuthorizer
    private let replies: ReplyBox
    private var endings: Mailbox<Ending>?
    private var notices: Mailbox<StageBoard.Notice>?
    private var streams: [Int: WatchStream] = [:]
    private var lastNumber = 0
    private var timers: [TimerWatch] = []

    /// Asks for the end of a stream whose place was given away, or whose token was taken away.
    private struct Ending: Sendable {
        var number: Int
        var refusal: Refusal
    }

    /// - Throws: when the system gives no more descriptors.
    public convenience init(loop: EventLoop, board: StageBoard, context: EmbeddedRouterContext) throws(SystemError) {
        try self.init(loop: loop, board: board, viewers: context.pages, authorizer: context.authorizer)
    }

    init(
        loop: EventLoop, board: StageBoard, viewers: ViewerRegistry, authorizer: any SubscribeAuthorizer
    ) throws(SystemError) {
        (self.loop, self.board, self.viewers, self.authorizer) = (loop, board, viewers, authorizer)
        replies = try ReplyBox(loop: loop)
        endings = try Mailbox(loop: loop) { [unowned self] in end($0.number, because: $0.refusal) }
        notices = try Mailbox(loop: loop) { [unowned self] in deliver($0) }
        let (authorization, clock) = (Self.authorizationInterval, Self.clockInterval)
        timers = [
            loop.schedule(after: authorization, repeating: authorization) { [unowned self] in authorizeAgain() },
            loop.schedule(after: clock, repeating: clock) { [unowned self] in tellTime() },
        ]
    }

    deinit { for stream in streams.values { leave(stream) } }

    /// Answers a request for the page or its events, now or later on this loop.
    /// - Returns: false when the path is none of ours; then nothing is answered.
    public func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) -> Bool {
        guard let resource = WatchResource(request) else { return false }
        switch (request.method, resource) {
        case (.get, .page), (.head, .page): exchange.respond(WatchAsset.page)
        case (.get, .asset(let asset)), (.head, .asset(let asset)): exchange.respond(asset.response)
        case (.get, .events(let stageID)): open(stageID, request, exchange)
        case (.options, .events): exchange.respond(AnyOrigin.preflight)
        default: exchange.respond(Refusal(.methodNotAllowed).response(headers: ["Allow": resource.allowedMethods]))
        }
        return true
    }

    /// Ends every stream in order.
    public func stop() {
        for stream in streams.values {
            leave(stream)
            stream.close()
        }
        streams = [:]
    }

    /// Often enough that an expired token sees little more; a token known to be genuine costs no signature.
    static let authorizationInterval = Duration.seconds(30)
    /// The gateway's clock, by which the page tells how old a picture is.
    static let clockInterval = Duration.seconds(5)
}

// MARK: - Streams

extension WatchEndpoint {
    private func open(_ stageID: String, _ request: HTTPRequest, _ exchange: HTTPExchange) {
        guard let token = request.bearerToken else {
            return exchange.respond(Refusal(.missingToken).response(headers: AnyOrigin.headers))
        }
        let asked = SubscribeRequest(token: token, stageID: stageID, source: request.source)
        let question = authorize(asked) { [unowned self] result in
            do throws(Refusal) {
                try start(asked, (result ?? .failure(Refusal(.overloaded))).get(), exchange)
            } catch {
                exchange.respond(error.response(headers: AnyOrigin.headers))
            }
        }
        if let question { exchange.onCancelled = { [unowned self] in replies.cancel(question) } }
    }

    /// - Parameter then: told nil when too many are asked at once.
    private func authorize(
        _ request: SubscribeRequest, then: @escaping (Result<SubscribeGrant, Refusal>?) -> Void
    ) -> ReplyBox.Question? {
        replies.ask({ reply in authorizer.authorizeSubscribe(request) { reply($0) } }, then: then)
    }

    private func start(
        _ request: SubscribeRequest, _ grant: SubscribeGrant, _ exchange: HTTPExchange
    ) throws(Refusal) {
        guard let notices, let endings else { throw Refusal(.overloaded) }
        lastNumber += 1
        let number = lastNumber
        let place = try viewers.enter(
            .init(grant: grant, token: request.token, source: request.source.ip) { [sender = endings.sender] in
                sender.send(Ending(number: number, refusal: $0))
            })
        guard let watcher = board.watch(stage: request.stageID, notices.sender) else {
            viewers.leave(place)
            throw Refusal(.overloaded)
        }
        guard let events = exchange.startEventStream(headers: AnyOrigin.headers) else {
            viewers.leave(place)
            return board.stopWatching(stage: request.stageID, watcher)
        }
        let stream = WatchStream(number: number, request: request, watcher: watcher, place: place, events: events)
        events.onClosed = { [unowned self] in
            if let stream = streams.removeValue(forKey: watcher) { leave(stream) }
        }
        streams[watcher] = stream
        stream.send(.welcome(stageID: request.stageID, at: EventLoop.wallNow()))
    }

    private func deliver(_ notice: StageBoard.Notice) { streams[notice.watcher]?.send(WatchEvent(notice.event)) }

    private func tellTime() {
        for stream in streams.values { stream.send(.clock(EventLoop.wallNow())) }
    }

    func authorizeAgain() {
        for stream in streams.values {
            _ = authorize(stream.request) { [unowned self] result in
                if case .failure(let refusal) = result { end(stream.number, because: refusal) }
            }
        }
    }

    /// The token is not what it was: the stream says so and ends.
    private func end(_ number: Int, because refusal: Refusal) {
        guard let stream = streams.values.first(where: { $0.number == number }) else { return }
        streams[stream.watcher] = nil
        leave(stream)
        stream.send(.refused(refusal))
        stream.close()
    }

    private func leave(_ stream: WatchStream) {
        board.stopWatching(stage: stream.request.stageID, stream.watcher)
        viewers.leave(stream.place)
    }
}

/// Pages of other origins may watch too: with a token of their own, never with cookies.
private enum AnyOrigin {
    static let headers: HTTPHeaders = ["Access-Control-Allow-Origin": "*"]

    static var preflight: HTTPResponse {
        var response = HTTPResponse(.noContent, headers: headers)
        response.headers["Access-Control-Allow-Methods"] = "GET, OPTIONS"
        response.headers["Access-Control-Allow-Headers"] = "Authorization"
        response.headers["Access-Control-Max-Age"] = "86400"
        return response
    }
}

/// One page that is told who is live. Confined to its worker.
final class WatchStream {
    /// The endpoint's name for it.
    let number: Int
    /// What it opened with: its token is checked again while it lives.
    let request: SubscribeRequest
    /// The board's name for it.
    let watcher: Int
    /// Its place among the pages that watch.
    let place: UInt64
    private let events: HTTPEventStream

    init(number: Int, request: SubscribeRequest, watcher: Int, place: UInt64, events: HTTPEventStream) {
        (self.number, self.request, self.watcher, self.place, self.events) = (number, request, watcher, place, events)
    }

    func send(_ event: WatchEvent) { events.send(event.serverSent) }
    func close() { events.close() }
}
