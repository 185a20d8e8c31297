import Admission
import EventLoop
import HTTP
import Monitoring
import Refusals
import SDP
import StageHub
import WebRTCTransport
import Wire

/// One POST from its token to its answer: carries out what `PublishMachine` says until the session waits for its media
/// (docs/design.md 7.3). Confined to the endpoint's loop; the answers that it waits for keep it alive.
final class WHIPPost {
    /// Owns the answers under way, which keep this POST alive.
    private unowned let endpoint: WHIPEndpoint
    private let post: OfferRequest
    private var request: PublishRequest
    private let publish: Lock<PublishMachine>
    /// Nil until the offer has been found one that can be served.
    private var entry: SessionEntry?
    /// Nil once the POST is answered.
    private var respond: ((HTTPResponse) -> Void)?

    private var context: WHIPContext { endpoint.context }

    init(
        _ post: OfferRequest, userAgent: String, at endpoint: WHIPEndpoint, _ respond: @escaping (HTTPResponse) -> Void
    ) {
        (self.post, self.endpoint, self.respond) = (post, endpoint, respond)
        request = PublishRequest(
            credential: .token(post.token), ingestProtocol: .whip, source: post.source, userAgent: userAgent)
        publish = Lock(PublishMachine([post.token], contest: .winsWhenReady))
    }

    func begin() { perform(publish.withLock { $0.begin() }) }

    private func perform(_ actions: [PublishMachine.Action]) {
        for action in actions {
            switch action {
            case .authorize: authorize()
            case .examine(let grant): examine(grant)
            case .claim(let grant, let takeOver): claim(grant, takeOver: takeOver)
            case .enterQueue(_, let incumbent): challenge(incumbent)
            case .prepare: answer()
            case .refuse(let refusal, let grant): refuse(refusal, of: grant)
            case .release(let lease): context.leases.release(lease)
            // A live session's, and those of publishes that wait for a lease unanswered.
            case .look, .leaveQueue, .start, .stop, .fail, .giveWay: break
            }
        }
    }

    private func authorize() {
        let (authorizer, request) = (context.authorizer, request)
        endpoint.replies.ask { reply in
            authorizer.authorize(request) { reply($0) }
        } then: { [self] result in
            perform(publish.withLock { $0.authorized(result ?? .failure(Refusal(.authorityUnavailable))) })
        }
    }

    /// The token is good: is there something that this encoder has still to hear, and can its offer be served?
    private func examine(_ grant: PublishGrant) {
        // The token has been verified, and from here on the grant stands for it: a session does not keep the secret.
        request.credential = .token(Secret([]))
        request.settingsDigest = OfferSettings.digest(of: post.body, by: request.userAgent)
        var objection = endpoint.host.rememberedRefusal(for: grant, request)
        if objection == nil {
            do throws(Refusal) { entry = try makeEntry(grant) } catch { objection = error }
        }
        perform(publish.withLock { $0.examined(objection) })
    }

    private func makeEntry(_ grant: PublishGrant) throws(Refusal) -> SessionEntry {
        let host = endpoint.host
        let rules = OfferRules(
            acceptedProfiles: host.acceptedProfiles(for: grant), acceptedBitrate: host.acceptedBitrate(for: grant))
        let accepted = try AcceptedOffer(negotiating: try post.description(), rules: rules)
        return SessionEntry(
            transport: context.transport.makeState(for: accepted.peer, token: post.token, now: endpoint.loop.now),
            grant: grant, request: request, offer: accepted, publish: publish, context: context)
    }

    private func claim(_ grant: PublishGrant, takeOver: Bool) {
        guard let entry else { return }
        context.leases.claimPublish(grant, protocol: .whip, holder: entry, takeOver: takeOver, through: endpoint.replies) {
            [self] answer in
            let now = endpoint.loop.now
            perform(publish.withLock { $0.claimed(answer, at: now) })
            if entry.ownership == .ended { refuseEnded(entry) }
        }
    }

    /// Somebody else has ended the session before its POST was answered: its encoder has still to hear of it.
    private func refuseEnded(_ entry: SessionEntry) { refuse(entry.refusal ?? Refusal(.streamKeyInUse), of: nil) }

    /// The newest session wins, but only once its DTLS is done: an incumbent keeps the lease until then.
    private func challenge(_ incumbent: any LeaseHolder) {
        guard let entry else { return }
        let address = (incumbent as? SessionEntry)?.source.ip
        entry.content.withLock { $0.incumbent = address }
        let now = endpoint.loop.now
        let isAllowed = context.takeovers.withLock {
            $0.allows(entry.grant.participant, from: entry.source.ip, now: now)
        }
        perform(publish.withLock { $0.admittedToQueue(isAllowed ? nil : Refusal(.takeoverFlapping)) })
    }

    /// Makes the session findable, then answers 201: its encoder may open the way for media.
    private func answer() {
        guard let entry, let respond else { return }
        guard case .added(let replaced) = context.directory.add(entry) else {
            return refuse(Refusal(.tooManyPending), of: entry.grant)
        }
        context.transport.add(entry)
        if let replaced { context.transport.end(replaced, .takenOver) }
        guard entry.ownership != .ended else {
            // Its end may have come before it could be found.
            context.directory.forget(entry)
            context.transport.remove(entry)
            return refuseEnded(entry)
        }
        endpoint.awaitClaim(of: entry)
        entry.note(.posted)
        SessionLog.posted(entry)
        let location = post.pathPrefix + WHIPResource.sessionPrefix + entry.id
        var response = context.transport.created(entry, location: location) { entry.offer.answer($0) }
        response.headers[Self.warningHeader] = endpoint.host.rememberedWarning(for: entry.grant, request)
        self.respond = nil
        respond(response)
    }

    /// On a 201: what was wrong with the encoder's last publish, though no reason to refuse this one.
    private static let warningHeader = "Stagedoor-Warning"

    /// - Parameter grant: whose publish it would have been, of a good token.
    private func refuse(_ refusal: Refusal, of grant: PublishGrant?) {
        guard let respond else { return }
        self.respond = nil
        request.place.giveBack()
        SessionLog.refused(refusal, from: request.source, userAgent: request.userAgent, of: grant)
        if let entry {
            context.transport.end(entry, .refused(refusal))
        } else {
            context.board.note(
                RefusedAttempt(refusal, of: grant, by: .whip, from: request.source, userAgent: request.userAgent))
        }
        if let grant { context.reports.publishRefused(grant, protocol: .whip, refusal) }
        var headers = HTTPHeaders()
        if refusal.code == .repeatedViolation, let grant, let seconds = endpoint.host.retryAfter(for: grant) {
            headers["Retry-After"] = "\(seconds)"
        }
        respond(refusal.response(headers: headers))
    }
}
