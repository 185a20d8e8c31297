import Admission
public import EventLoop
public import HTTP
import JSON
public import MediaContract
import Monitoring
import Refusals
import Settings
public import StageHub
import WebRTCTransport
import Wire

/// The WHIP resources on one worker's public HTTP listeners: `/whip`, `/`, and `/whip/sessions/{id}` (RFC 9725 §4).
///
/// Confined to the worker's loop. Answers come later on the same loop, once the token is verified and the lease is known.
public final class WHIPEndpoint {
    let loop: EventLoop
    let context: WHIPContext
    /// Asked for refusals that an encoder has still to hear.
    let host: any PublishHost<ContractSession>
    /// The way back for answers to what POSTs ask.
    let replies: ReplyBox
    /// Has a request for a session of the process before us answered there; false when that one is gone.
    private let predecessor: (HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) -> Bool
    /// The way to the other nodes; nil where there are none.
    private let proxy: SessionProxy?
    /// Whether `GET /publish` serves the test page.
    private let servesPublishPage: Bool
    private let unclaimed: UnclaimedSessions
    private var rates = RequestRates()

    /// - Throws: when the kernel gives no more descriptors.
    public init(
        loop: EventLoop, context: WHIPContext, host: any PublishHost<ContractSession>, servesPublishPage: Bool,
        proxy: SessionProxy? = nil,
        predecessor: @escaping (HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) -> Bool = { _, _ in false }
    ) throws(SystemError) {
        (self.loop, self.context, self.host, self.servesPublishPage) = (loop, context, host, servesPublishPage)
        (self.proxy, self.predecessor) = (proxy, predecessor)
        replies = try ReplyBox(loop: loop, maximumQuestions: Self.maximumQuestions)
        unclaimed = UnclaimedSessions(loop: loop, patience: context.transport.configuration.whip.pendingTimeout)
    }

    /// Answers a request for one of our resources, now or later on this loop.
    /// - Returns: false when the path is none of ours; then `respond` is not called.
    public func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void) -> Bool {
        let request = proxy?.asTheEncoderSent(request, now: EventLoop.wallNow()) ?? request
        let answer = { (response: HTTPResponse) in respond(CrossOrigin.allow(response)) }
        guard let resource = WHIPResource(path: request.path, servesPublishPage: servesPublishPage) else { return false }
        if case .session(let id) = resource, Self.isPassedOn(request), let home = SessionIdentifier.Home(of: id), !isHere(home) {
            passOn(request, id, to: home, answer)
            return true
        }
        switch (request.method, resource) {
        case (.options, _):
            answer(
                context.transport.optionsResponse(
                    to: request, allowed: resource.allowedMethods, isSession: resource.isSession))
        case (.get, .publishPage), (.head, .publishPage): answer(PublishPage.response)
        case (.get, .session(let id)) where request.presentedToken != nil: answer(ending(request, id))
        case (.get, _), (.head, _): answer(HTTPResponse(.noContent))
        case (.post, .endpoint): post(request, answer)
        case (.patch, .session(let id)): answer(patch(request, id))
        case (.delete, .session(let id)): answer(delete(request, id))
        default: answer(Refusal(.methodNotAllowed).response(headers: ["Allow": resource.allowedMethods]))
        }
        return true
    }

    /// A GET without a token learns nothing of a session, wherever it is.
    private static func isPassedOn(_ request: HTTPRequest) -> Bool {
        switch request.method {
        case .patch, .delete: true
        case .get: request.presentedToken != nil
        default: false
        }
    }

    // MARK: - POST

    private func post(_ request: HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) {
        let post: OfferRequest
        do throws(Refusal) { post = try OfferRequest(request, &rates, now: loop.now) } catch {
            note(error, of: request)
            return respond(OfferRequest.response(error))
        }
        if let redirection = proxy?.redirection(of: request) { return respond(redirection) }
        WHIPPost(post, userAgent: request.userAgent, at: self, respond).begin()
    }

    /// Turns away an offer at a path where nobody takes any, as of those who know another server's URL.
    /// - Returns: false where the request is no such offer; then `respond` is not called.
    public func turnAwayStray(_ request: HTTPRequest, respond: (HTTPResponse) -> Void) -> Bool {
        guard request.method == .post, Self.isOffer(request), !request.path.hasPrefix(Self.playersPrefix) else { return false }
        let refusal = Refusal(rates.allows(request.source.ip, now: loop.now) ? .unknownEndpoint : .tooManyRequests)
        note(refusal, of: request)
        respond(CrossOrigin.allow(refusal.response()))
        return true
    }

    private static let playersPrefix = "/whep"

    private static func isOffer(_ request: HTTPRequest) -> Bool { request.contentType?.matches("application/sdp") == true }

    /// A POST was refused before its token was looked at. What has an offer is an encoder: the console shows it too.
    private func note(_ refusal: Refusal, of request: HTTPRequest) {
        SessionLog.refused(refusal, from: request.source, userAgent: request.userAgent, of: nil)
        guard Self.isOffer(request), refusal.code != .tooManyRequests else { return }
        context.board.note(RefusedAttempt(refusal, of: nil, by: .whip, from: request.source, userAgent: request.userAgent))
    }

    /// A session was answered: it ends when nobody claims it in time.
    func awaitClaim(of entry: SessionEntry) { unclaimed.add(entry) }

    // MARK: - Sessions

    // PATCH, DELETE and GET (RFC 9725 §4.2, §4.3, §4.5) compare the token with the session's own; its expiry is not asked.

    private func delete(_ request: HTTPRequest, _ id: String) -> HTTPResponse {
        do throws(Refusal) {
            // One that has ended stays as it is: the encoder only tidies up.
            context.transport.end(try find(request, id, orEnded: true), .closed)
            return HTTPResponse(.ok)  // 200: OBS warns at anything else
        } catch { return error.response() }
    }

    private func patch(_ request: HTTPRequest, _ id: String) -> HTTPResponse {
        do throws(Refusal) {
            return context.transport.answerPatch(request, try find(request, id))
        } catch { return error.response() }
    }

    private func isHere(_ home: SessionIdentifier.Home) -> Bool {
        let settings = context.transport.configuration
        return home.node == settings.node && home.generation == settings.generation
    }

    /// Has a request answered where its session is: by another process of this node, or by another node.
    private func passOn(
        _ request: HTTPRequest, _ id: String, to home: SessionIdentifier.Home, _ respond: @escaping (HTTPResponse) -> Void
    ) {
        do throws(Refusal) {
            guard rates.allows(request.source.ip, now: loop.now) else { throw Refusal(.tooManyRequests) }
            try context.transport.checkPassedOn(request, id)
            let isOfThisNode = home.node == context.transport.configuration.node
            let isTaken =
                isOfThisNode ? predecessor(request, respond) : proxy?.pass(request, id, toNode: home.node, respond) ?? false
            if isTaken { return }
            // Its process is gone, and the session with it: the encoder only tidies up.
            guard isOfThisNode, isOlder(home), request.method == .delete else { throw Refusal(.unknownSession) }
            respond(HTTPResponse(.ok))
        } catch {
            // A GET of what is not there, or somebody else's, says as little as one without a token.
            respond(request.method == .get ? HTTPResponse(.noContent) : error.response())
        }
    }

    /// Whether a process before this one made it, whose generation is one of the 31 before.
    private func isOlder(_ home: SessionIdentifier.Home) -> Bool {
        (1..<32).contains((context.transport.configuration.generation &- home.generation) % 64)
    }

    /// GET with the session's token: empty while it lives, and for a minute after its end why.
    private func ending(_ request: HTTPRequest, _ id: String) -> HTTPResponse {
        // What is not there, or somebody else's, says as little as a GET without a token.
        guard let verdict = (try? find(request, id, orEnded: true))?.story.verdict else { return HTTPResponse(.noContent) }
        return HTTPResponse(.ok, json: ["verdict": .string(verdict)], headers: ["Cache-Control": "no-store"])
    }

    /// - Parameter orEnded: whether a session that ended within the last minute will do as well.
    private func find(_ request: HTTPRequest, _ id: String, orEnded: Bool = false) throws(Refusal) -> SessionEntry {
        guard rates.allows(request.source.ip, now: loop.now) else { throw Refusal(.tooManyRequests) }
        guard let token = request.presentedToken else { throw request.refusalWithoutToken }
        let ended = orEnded ? context.directory.justFinishedEntry(id: id, at: loop.now) : nil
        guard let entry = context.directory.entry(id: id) ?? ended else { throw Refusal(.unknownSession) }
        guard entry.transport.belongs(to: token) else { throw Refusal(.foreignSession) }
        return entry
    }

    /// POSTs that wait for an answer, from all encoders.
    private static let maximumQuestions = 65_536
}
