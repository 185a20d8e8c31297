public import Admission
public import EventLoop
public import HTTP
import Monitoring
import OpenSSL
import Refusals
import SDP
import Settings
import WebRTCTransport
import Wire

/// The WHIP resources on one worker's public HTTP listeners: `/whip`, `/`, and `/whip/sessions/{id}` (RFC 9725 §4).
///
/// Confined to the worker's loop. Answers come later on the same loop, once the token is verified and the lease is known.
public final class WHIPEndpoint {
    let loop: EventLoop
    let plane: WHIPPlane
    let authorizer: any Authorizer
    /// Asked for refusals that an encoder has still to hear.
    public weak var host: (any WHIPPublishHost)?
    /// Has a request for a session of the process before us answered there; false when that one is gone.
    public var predecessor: (HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) -> Bool = { _, _ in false }
    /// The way to the other nodes; nil where there are none.
    public var proxy: SessionProxy?
    /// Whether `GET /publish` serves the test page.
    let servesPublishPage: Bool
    private var mailbox: Mailbox<Reply>?
    private var waiting: [Int: PendingPost] = [:]
    private var nextNumber = 0
    private var pending: [SessionEntry] = []
    private var sweeper: TimerWatch?
    var rates = RequestRates()

    enum Reply: Sendable {
        case authorized(Int, Result<PublishGrant, Refusal>)
        case claimed(Int, ClaimAnswer)
    }

    public init(loop: EventLoop, plane: WHIPPlane, authorizer: any Authorizer, servesPublishPage: Bool = false) throws {
        (self.loop, self.plane, self.authorizer, self.servesPublishPage) = (loop, plane, authorizer, servesPublishPage)
        mailbox = try Mailbox(loop: loop) { [unowned self] in receive($0) }
        sweeper = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .seconds(1)) { [unowned self] in sweep() }
    }

    deinit { sweeper?.cancel() }

    /// Answers a request for one of our resources, now or later on this loop.
    /// - Returns: false when the path is none of ours; then `respond` is not called.
    public func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void) -> Bool {
        let request = proxy?.asTheEncoderSent(request, now: EventLoop.wallNow()) ?? request
        let answer = { (response: HTTPResponse) in respond(CrossOrigin.allow(response, for: request)) }
        guard let resource = WHIPResource(path: request.path, servesPublishPage: servesPublishPage) else { return false }
        // The root is ours for POST alone: other programs' pages may live there.
        if resource == .root, request.method != .post, request.method != .options { return false }
        if case .session(let id) = resource, Self.isPassedOn(request), let place = SessionIdentifier.Place(of: id), !isHere(place)
        {
            passOn(request, id, to: place, answer)
            return true
        }
        switch (request.method, resource) {
        case (.options, _):
            answer(
                CrossOrigin.preflight(
                    request, allowed: resource.allowedMethods, isSession: resource.isSession,
                    linkHeaders: plane.transport.linkHeaders(for: nil)))
        case (.get, .publishPage), (.head, .publishPage): answer(PublishPage.response)
        case (.get, .session(let id)) where request.presentedToken != nil: answer(ending(request, id))
        case (.get, _), (.head, _): answer(HTTPResponse(.noContent))
        case (.post, .endpoint), (.post, .root): post(request, answer)
        case (.patch, .session(let id)): patch(request, id, answer)
        case (.delete, .session(let id)): delete(request, id, answer)
        default: answer(Problem.response(Refusal(.methodNotAllowed), headers: ["Allow": resource.allowedMethods]))
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

    private struct PendingPost {
        var body: [UInt8]
        var request: PublishRequest
        var token: Secret
        var respond: (HTTPResponse) -> Void
        var grant: PublishGrant?
        var offer: AcceptedOffer?
        /// Of what the encoder's settings decide.
        var offerDigest = ""
        var entry: SessionEntry?
    }

    private func post(_ request: HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) {
        let userAgent = String(request.headers["User-Agent"]?.prefix(256) ?? "")
        let token: Secret
        do throws(Refusal) { token = try presentedToken(of: request) } catch {
            SessionLog.refused(error, from: request.source, userAgent: userAgent, of: nil)
            let headers: HTTPHeaders = error.code == .unsupportedContentType ? ["Accept-Post": "application/sdp"] : [:]
            return respond(Problem.response(error, headers: headers))
        }
        if let redirection = proxy?.redirection(of: request) { return respond(redirection) }
        nextNumber += 1
        let number = nextNumber
        let asked = PublishRequest(
            credential: .token(token), ingestProtocol: .whip, source: request.source, userAgent: userAgent)
        waiting[number] = PendingPost(body: request.body, request: asked, token: token, respond: respond)
        mailbox?.ask { answer in authorizer.authorize(asked) { _ = answer(.authorized(number, $0)) } }
    }

    /// The token of a POST, unless the request itself is refused before anybody looks at tokens and offers.
    private func presentedToken(of request: HTTPRequest) throws(Refusal) -> Secret {
        guard rates.allows(request.source.ip, now: loop.now) else { throw Refusal(.tooManyRequests) }
        guard request.contentType?.matches("application/sdp") == true else { throw Refusal(.unsupportedContentType) }
        guard request.body.count <= SessionDescription.maximumByteCount else { throw Refusal(.bodyTooLarge) }
        guard let token = request.presentedToken else { throw Refusal(.missingToken) }
        return token
    }

    private func receive(_ reply: Reply) {
        switch reply {
        case .authorized(let number, .failure(let refusal)): refuse(number, refusal)
        case .authorized(let number, .success(let grant)): authorized(number, grant)
        case .claimed(let number, let answer): claimed(number, answer)
        }
    }

    private func refuse(_ number: Int, _ refusal: Refusal) {
        guard let post = waiting.removeValue(forKey: number) else { return }
        SessionLog.refused(refusal, from: post.request.source, userAgent: post.request.userAgent, of: post.grant)
        if let entry = post.entry {
            plane.transport.end(entry, .refused(refusal))
        } else {
            plane.board?.note(
                RefusedAttempt(
                    refusal, of: post.grant, by: .whip, from: post.request.source, userAgent: post.request.userAgent))
        }
        if let grant = post.grant { plane.reports?.publishRefused(grant, protocol: .whip, refusal) }
        var headers = HTTPHeaders()
        if refusal.code == .repeatedViolation, let grant = post.grant, let seconds = host?.retryAfter(for: grant) {
            headers["Retry-After"] = "\(seconds)"
        }
        post.respond(Problem.response(refusal, headers: headers))
    }

    /// The token is good: the offer is judged, and the lease is asked for without taking it from anybody.
    private func authorized(_ number: Int, _ grant: PublishGrant) {
        guard var post = waiting[number] else { return }
        post.grant = grant
        post.offerDigest = OfferSettings.digest(of: post.body, by: post.request.userAgent)
        if let refusal = host?.rememberedRefusal(for: grant, post.request, offer: post.offerDigest) {
            waiting[number] = post
            return refuse(number, refusal)
        }
        do throws(Refusal) {
            let rules = host.map { OfferRules(acceptedProfiles: $0.acceptedProfiles(for: grant)) } ?? OfferRules()
            let offer = try Self.offer(in: post.body, rules: rules)
            post.offer = offer
            post.entry = makeEntry(grant, offer, post)
            waiting[number] = post
        } catch {
            waiting[number] = post
            return refuse(number, error)
        }
        guard let entry = post.entry else { return }
        mailbox?.ask { answer in
            plane.leases.claimPublish(grant, protocol: .whip, holder: entry, takeOver: false) {
                _ = answer(.claimed(number, $0))
            }
        }
    }

    private static func offer(in body: [UInt8], rules: OfferRules) throws(Refusal) -> AcceptedOffer {
        let description: SessionDescription
        do throws(SDPError) {
            description = try SessionDescription(parsing: body, endings: .crlf)
        } catch { throw malformed("The SDP offer is malformed: \(error).") }
        return try AcceptedOffer(negotiating: description, rules: rules)
    }

    private func makeEntry(_ grant: PublishGrant, _ offer: AcceptedOffer, _ post: PendingPost) -> SessionEntry {
        SessionEntry(
            transport: plane.transport.makeState(for: offer.peer, token: post.token, now: loop.now), grant: grant,
            request: post.request, offer: offer, offerDigest: post.offerDigest, plane: plane)
    }

    /// The newest session wins, but only once its DTLS is done: an incumbent keeps the lease until then (docs/design.md 7.3).
    private func claimed(_ number: Int, _ answer: ClaimAnswer) {
        guard let entry = waiting[number]?.entry else { return }
        switch answer {
        case .granted(let lease): entry.content.withLock { $0.lease = lease }
        case .held(let holder):
            let incumbent = (holder as? SessionEntry)?.source.ip
            entry.content.withLock { $0.incumbent = incumbent }
            let isAllowed = plane.takeovers.withLock {
                $0.allows(entry.grant.participant, from: entry.source.ip, now: loop.now)
            }
            guard isAllowed else { return refuse(number, Refusal(.takeoverFlapping)) }
        case .refused(let refusal): return refuse(number, refusal)
        }
        let (isAdded, replaced) = plane.directory.add(entry)
        guard isAdded else { return refuse(number, Refusal(.tooManyPending)) }
        plane.transport.add(entry)
        if let replaced { plane.transport.end(replaced, .takenOver) }
        pending.append(entry)
        created(number, entry)
    }

    private func created(_ number: Int, _ entry: SessionEntry) {
        guard let post = waiting.removeValue(forKey: number) else { return }
        entry.note(.posted)
        SessionLog.posted(entry)
        var response = plane.transport.created(entry, location: "/whip/sessions/\(entry.id)") { entry.offer.answer($0) }
        response.headers[Self.warningHeader] = host?.rememberedWarning(for: entry.grant, post.request, offer: post.offerDigest)
        post.respond(response)
    }

    /// On a 201: what was wrong with the encoder's last publish, though no reason to refuse this one.
    private static let warningHeader = "Stagedoor-Warning"

    // MARK: - Time

    /// Ends pending sessions that nobody claimed in time.
    private func sweep() {
        let now = loop.now
        pending.removeAll { entry in
            guard entry.current == .pending else { return true }
            guard now - entry.transport.createdAt > plane.transport.configuration.whip.pendingTimeout else { return false }
            if entry.transport.endIfPending() { entry.conclude(.connectionLost) }
            return true
        }
    }
}
