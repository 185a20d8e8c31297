import Admission
public import EventLoop
public import HTTP
public import HTTPServer
import JSON
import OpenSSL
import Refusals
import Settings
import WebRTCTransport
import Wire

/// The WHEP resources on one worker's public HTTP listeners (draft-ietf-wish-whep): who watches one participant of a stage.
///
/// Confined to the worker's loop. Answers come later on the same loop, once the token is verified.
public final class WHEPEndpoint {
    private let loop: EventLoop
    private let context: EmbeddedRouterContext
    /// The way back for what the authorizer answers.
    private let replies: ReplyBox
    private let unclaimed: UnclaimedSessions
    private let events: LayerEvents
    private var rates = RequestRates()
    /// Has a request for a session of the process before us answered there; false when that one is gone.
    private let predecessor: (HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) -> Bool

    /// - Throws: when the kernel gives no more descriptors.
    public init(
        loop: EventLoop, context: EmbeddedRouterContext,
        predecessor: @escaping (HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) -> Bool = { _, _ in false }
    ) throws(SystemError) {
        (self.loop, self.context, self.predecessor) = (loop, context, predecessor)
        replies = try ReplyBox(loop: loop, maximumQuestions: Self.maximumQuestions)
        events = try LayerEvents(loop: loop)
        unclaimed = UnclaimedSessions(loop: loop, patience: context.transport.configuration.whip.pendingTimeout)
    }

    /// Answers a request for one of our resources, now or later on this loop.
    /// - Returns: false when the path is none of ours; then nothing is answered.
    public func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) -> Bool {
        guard let resource = WHEPResource(request) else { return false }
        if case (.get, .eventStream(let id, let names)) = (request.method, resource) {
            openEvents(request, id, names, exchange)
        } else {
            answer(request, resource) { exchange.respond($0) }
        }
        return true
    }

    /// Answers a request that another process received, but for streams of events, which stay where they are.
    /// - Returns: false when the path is none of ours; then `respond` is not called.
    public func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void) -> Bool {
        guard let resource = WHEPResource(request) else { return false }
        answer(request, resource, respond)
        return true
    }

    private func answer(_ request: HTTPRequest, _ resource: WHEPResource, _ respond: @escaping (HTTPResponse) -> Void) {
        let answer = { (response: HTTPResponse) in respond(CrossOrigin.allow(response)) }
        if let id = resource.session(for: request.method), context.transport.isOfAnotherProcess(id) {
            return passOn(request, id, answer)
        }
        switch (request.method, resource) {
        case (.options, _):
            answer(
                context.transport.optionsResponse(
                    to: request, allowed: resource.allowedMethods, isSession: resource.isSession))
        // Players tell a WHEP URL from others by this content type.
        case (.get, .participant), (.head, .participant): answer(HTTPResponse(.ok, headers: ["Content-Type": "application/sdp"]))
        case (.get, .session), (.head, .session): answer(HTTPResponse(.noContent))
        case (.post, .participant(let key)): post(request, key, answer)
        case (.patch, .session(let id)): answer(patch(request, id))
        case (.delete, .session(let id)): answer(delete(request, id))
        case (.get, .layer(let id)), (.head, .layer(let id)), (.post, .layer(let id)), (.delete, .layer(let id)):
            answer(choose(request, id))
        case (.post, .events(let id)): answer(makeEvents(request, id))
        case (.delete, .eventStream(let id, _)): answer(closeEvents(request, id))
        default: answer(Refusal(.methodNotAllowed).response(headers: ["Allow": resource.allowedMethods]))
        }
    }

    // MARK: - POST

    private func post(_ request: HTTPRequest, _ key: ParticipantKey, _ respond: @escaping (HTTPResponse) -> Void) {
        let (post, layer): (OfferRequest, SubscriberEntry.LayerRequest)
        do throws(Refusal) {
            post = try OfferRequest(request, &rates, now: loop.now)
            layer = .init(wish: try LayerWish(request.queryItems), initial: try InitialLayer(request.queryItems))
        } catch {
            return respond(OfferRequest.response(error))
        }
        let asked = SubscribeRequest(
            token: post.token, stageID: key.stageID, participantID: key.participantID, source: post.source,
            userAgent: request.userAgent)
        replies.ask { [authorizer = context.authorizer] reply in
            authorizer.authorizeSubscribe(asked) { reply($0) }
        } then: { [unowned self] (result: Result<SubscribeGrant, Refusal>?) in
            do throws(Refusal) {
                guard let result else { throw Refusal(.authorityUnavailable) }
                respond(try create(post, layer, key, telling: result.get()))
            } catch { respond(error.response()) }
        }
    }

    private func create(
        _ post: OfferRequest, _ layer: SubscriberEntry.LayerRequest, _ key: ParticipantKey, telling grant: SubscribeGrant
    ) throws(Refusal) -> HTTPResponse {
        do throws(Refusal) {
            return try create(post, layer, key, grant)
        } catch {
            context.reports?.watchRefused(Watching(grant, watches: key.participantID), error)
            throw error
        }
    }

    /// The token is good: the offer is judged, and a place is taken.
    private func create(
        _ post: OfferRequest, _ layer: SubscriberEntry.LayerRequest, _ key: ParticipantKey, _ grant: SubscribeGrant
    ) throws(Refusal) -> HTTPResponse {
        guard context.taps[key] != nil else { throw Refusal(.participantNotLive) }
        let offer = try SubscriberOffer(negotiating: try post.description())
        let sources = SubscriberSources(video: Random.integer(), retransmission: Random.integer(), audio: Random.integer())
        let entry = SubscriberEntry(
            transport: context.transport.makeState(for: offer.peer, token: post.token, now: loop.now), grant: grant,
            watched: key, offer: offer, sources: sources, layer: layer, context: context)
        entry.place = try context.takePlace(
            .init(grant: grant, token: post.token, source: post.source.ip) { [transport = context.transport] in
                transport.end(entry, .refused($0))
            })
        context.entries[entry.transport.id] = entry
        context.transport.add(entry)
        // It may have made way for another worker's newcomer before it could be found.
        guard entry.transport.ownership != .ended else {
            context.entries[entry.transport.id] = nil
            context.transport.remove(entry)
            throw Refusal(.tooManySubscribers)
        }
        unclaimed.add(entry)
        let location = WHEPResource.location(ofSession: entry.transport.id, behind: post.pathPrefix)
        var response = context.transport.created(entry, location: location) { offer.answer($0, sources, watched: key) }
        for link in WHEPResource.links(ofSession: location) { response.headers.add("Link", link) }
        return response
    }

    // MARK: - Session

    private func passOn(_ request: HTTPRequest, _ id: String, _ respond: @escaping (HTTPResponse) -> Void) {
        do throws(Refusal) {
            guard rates.allows(request.source.ip, now: loop.now) else { throw Refusal(.tooManyRequests) }
            try context.transport.checkPassedOn(request, id)
            guard predecessor(request, respond) else { throw Refusal(.unknownSession) }
        } catch { respond(error.response()) }
    }

    private func find(_ request: HTTPRequest, _ id: String) throws(Refusal) -> SubscriberEntry {
        guard rates.allows(request.source.ip, now: loop.now) else { throw Refusal(.tooManyRequests) }
        guard let token = request.presentedToken else { throw request.refusalWithoutToken }
        guard let entry = context.entries[id] else { throw Refusal(.unknownSession) }
        guard entry.transport.belongs(to: token) else { throw Refusal(.foreignSession) }
        // Many pages behind one address ask for their layers without keeping newcomers out.
        if entry.desk.isUnhurried(at: loop.now) { rates.giveBack(to: request.source.ip, now: loop.now) }
        return entry
    }

    private func patch(_ request: HTTPRequest, _ id: String) -> HTTPResponse {
        do throws(Refusal) {
            return context.transport.answerPatch(request, try find(request, id))
        } catch { return error.response() }
    }

    private func delete(_ request: HTTPRequest, _ id: String) -> HTTPResponse {
        do throws(Refusal) {
            context.transport.end(try find(request, id), .closed)
            return HTTPResponse(.ok)
        } catch { return error.response() }
    }

    // MARK: - Layers

    /// GET tells, POST chooses, DELETE leaves the choice to us again.
    private func choose(_ request: HTTPRequest, _ id: String) -> HTTPResponse {
        do throws(Refusal) {
            let desk = try find(request, id).desk
            switch request.method {
            case .post: desk.wish = try LayerWish(request.body, desk.state)
            case .delete: desk.wish = .automatic
            default: break
            }
            var state = desk.state
            // The session takes it up, and tells of it, only when it looks next.
            state.wish = desk.wish
            return HTTPResponse(.ok, contentType: "application/json", JSONValue.object(state.json).description)
        } catch { return error.response() }
    }

    private func makeEvents(_ request: HTTPRequest, _ id: String) -> HTTPResponse {
        do throws(Refusal) {
            _ = try find(request, id)
            let names = try LayerEvents.kinds(request.body).map(\.rawValue).joined(separator: ",")
            guard !names.isEmpty else { throw Refusal(.unknownLayer, sentence: "None of these events are told here.") }
            let location = WHEPResource.location(ofSession: id, behind: request.pathPrefix)
            return HTTPResponse(.created, headers: ["Location": "\(location)/events/\(names)"])
        } catch { return error.response() }
    }

    private func openEvents(_ request: HTTPRequest, _ id: String, _ names: String, _ exchange: HTTPExchange) {
        do throws(Refusal) {
            try events.open(try find(request, id), names: names, exchange)
        } catch { exchange.respond(CrossOrigin.allow(error.response())) }
    }

    private func closeEvents(_ request: HTTPRequest, _ id: String) -> HTTPResponse {
        do throws(Refusal) {
            try find(request, id).desk.dismissListeners()
            return HTTPResponse(.ok)
        } catch { return error.response() }
    }

    /// POSTs that wait for the authorizer, from all viewers.
    private static let maximumQuestions = 65_536
}
