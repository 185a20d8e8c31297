import Admission
public import EventLoop
import HTTPClient
import JSON
import Refusals
public import Settings
import Signatures
import Wire

/// `authorize: {url}`: an HTTP service that is asked before anybody publishes. Confined to its loop.
///
/// `POST` of who wants to publish where, signed like webhooks. 2xx lets the encoder in, unless the answer is
/// `{"allow": false}`; 401, 403 and 404 turn it away; anything else, or no answer in time, is a failure.
public final class AuthorizeHook {
    /// How a question leaves and its answer comes back.
    typealias Ask = (HTTPClientRequest, _ done: @escaping (Result<Answer, HTTPClientError>) -> Void) -> Void

    struct Answer {
        var status: Int
        var body: [UInt8]
    }

    static let maximumKept = 10_000
    /// Questions under way at once, half of what our client takes: it would refuse further ones, which
    /// is no failure of the service's.
    static let maximumAsked = HTTPClient.maximumRequests / 2
    /// Further ones that wait their turn, for twice the service's time; beyond it encoders are refused.
    static let maximumWaiting = 10_000

    private struct Verdict {
        var refusal: Refusal?
        var until: MonotonicTime
    }

    private let loop: EventLoop
    private let settings: AuthorizeSettings
    private let failed: (String) -> Void
    private let ask: Ask
    private var breaker = CircuitBreaker()
    private var kept: FadingTable<String, Verdict>?
    private var mailbox: Mailbox<HookedAuthorizer.Question>?
    private var asked = 0
    /// The oldest first.
    private var waiting: ArraySlice<(question: HookedAuthorizer.Question, since: MonotonicTime)> = []

    /// - Parameter failed: hears each time why the service has decided nothing.
    /// - Throws: when the system gives no more descriptors.
    public convenience init(
        loop: EventLoop, settings: AuthorizeSettings, failed: @escaping (String) -> Void, answering authorizer: HookedAuthorizer
    ) throws(SystemError) {
        let client = HTTPClient(loop: loop)
        try self.init(loop: loop, settings: settings, failed: failed, answering: authorizer) { request, done in
            client.send(request) { result in done(result.map { Answer(status: $0.status, body: $0.body) }) }
        }
    }

    init(
        loop: EventLoop, settings: AuthorizeSettings, failed: @escaping (String) -> Void = { _ in },
        answering authorizer: HookedAuthorizer, ask: @escaping Ask
    ) throws(SystemError) {
        (self.loop, self.settings, self.failed, self.ask) = (loop, settings, failed, ask)
        if settings.cache > .zero { kept = FadingTable(maximumCount: Self.maximumKept, lifetime: settings.cache) }
        let mailbox = try Mailbox<HookedAuthorizer.Question>(loop: loop) { [unowned self] in decide($0) }
        self.mailbox = mailbox
        authorizer.attach(mailbox.sender)
    }

    private func decide(_ question: HookedAuthorizer.Question) {
        let key = "\(question.request.ingestProtocol.rawValue) \(question.grant.credentialHash) \(question.grant.stageID)"
        if let verdict = kept?.glimpse(of: key), loop.now < verdict.until { return answer(question, verdict.refusal) }
        guard asked < Self.maximumAsked else { return putOff(question) }
        guard breaker.admits(at: loop.now) else { return answerFailure(question) }
        asked += 1
        ask(request(for: question)) { [weak self] result in
            guard let self else { return question.reply(.failure(Refusal(.draining))) }
            asked -= 1
            conclude(question, result, key)
            goOn()
        }
    }

    private func putOff(_ question: HookedAuthorizer.Question) {
        guard waiting.count < Self.maximumWaiting else { return turnAway(question) }
        waiting.append((question, loop.now))
    }

    /// A question that has waited for long is not asked any more, as its encoder gives up and comes anew: a service that is
    /// slower than encoders come would be asked only about those that have left.
    private func goOn() {
        let longestWait = settings.timeout + settings.timeout
        while asked < Self.maximumAsked, let next = waiting.popFirst() {
            if loop.now - next.since < longestWait { decide(next.question) } else { turnAway(next.question) }
        }
        if waiting.isEmpty { waiting = [] }  // a slice keeps what was taken from it
    }

    private func turnAway(_ question: HookedAuthorizer.Question) { question.reply(.failure(Refusal(.overloaded))) }

    private func conclude(
        _ question: HookedAuthorizer.Question, _ result: Result<Answer, HTTPClientError>, _ key: String
    ) {
        guard case .success(let response) = result, let decision = Self.decision(response) else {
            breaker.failed(at: loop.now)
            failed(result.words)
            return answerFailure(question)
        }
        breaker.succeeded()
        keep(decision.refusal, for: key)
        answer(question, decision.refusal)
    }

    private func answer(_ question: HookedAuthorizer.Question, _ refusal: Refusal?) {
        question.reply(refusal.map { .failure($0) } ?? .success(question.grant))
    }

    private func answerFailure(_ question: HookedAuthorizer.Question) {
        answer(question, settings.onFailure == .allow ? nil : Refusal(.authorityUnavailable))
    }

    private func keep(_ refusal: Refusal?, for key: String) {
        kept?.set(Verdict(refusal: refusal, until: loop.now + settings.cache), for: key, at: loop.now)
    }

    private func request(for question: HookedAuthorizer.Question) -> HTTPClientRequest {
        let (grant, request) = (question.grant, question.request)
        let attributes = grant.attributes.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
        let body: JSONValue = [
            "stageArn": .string(grant.stageARN), "participantId": .string(grant.participantID), "userId": .string(grant.userID),
            "attributes": .object(JSONObject(attributes)), "protocol": .string(request.ingestProtocol.rawValue),
            "ingestConfigurationArn": .string(grant.ingestConfigurationARN ?? ""), "source": .string("\(request.source)"),
            "userAgent": .string(request.userAgent), "credentialHash": .string(grant.credentialHash),
        ]
        let bytes = body.serialized()
        let headers = WebhookSignature.headers(
            of: bytes, at: EventLoop.wallNow().secondsSince1970, secret: settings.secret)
        var asked = HTTPClientRequest(method: "POST", url: settings.url, headers: headers, body: bytes)
        asked.deadline = settings.timeout
        asked.maximumBodyLength = 16 * 1024
        return asked
    }

    private enum Decision {
        case allowed
        case refused(Refusal)

        var refusal: Refusal? { if case .refused(let refusal) = self { refusal } else { nil } }
    }

    /// Nil when the answer decides nothing.
    private static func decision(_ response: Answer) -> Decision? {
        let json = try? JSONValue(parsing: response.body)
        let refusal = Refusal(.refusedByAuthority, sentence: json?["message"]?.string.map { String($0.prefix(200)) })
        switch response.status {
        case 200...299: return json?["allow"]?.bool == false ? .refused(refusal) : .allowed
        case 401, 403, 404: return .refused(refusal)
        default: return nil
        }
    }
}

extension Result<AuthorizeHook.Answer, HTTPClientError> {
    /// For the log.
    fileprivate var words: String {
        switch self {
        case .success(let answer): "it answered \(answer.status)"
        case .failure(let error): error.words
        }
    }
}
