public import Admission
public import EventLoop
public import JWT
import OpenSSL
public import Refusals
public import Settings
public import Wire

/// Says what a participant token is worth: cheap rules first, P-384 on threads of its own, genuine tokens remembered.
///
/// Its threads keep it until `close`: who gives it up unused, as a node that does not start, finds them not yet begun.
public final class TokenVerifier: Sendable {
    public typealias Reply = @Sendable (Result<VerifiedToken, Refusal>) -> Void

    private struct Job: Sendable {
        var token: Secret
        var hash: CredentialHash
        var reply: Reply
    }

    private struct Line {
        var queue: VerificationQueue<Job>
        var wake: [MailboxSender<Void>] = []
        var isClosed = false
    }

    let store: any GatewayStore
    private let rules: Lock<TokenRules>
    private let keys: VerificationKeys
    private let line: Lock<Line>
    private let known = Lock(VerifiedTokens())
    private let verifications = Lock(0)
    let wallNow: @Sendable () -> WallTime
    private let threads = Lock<[WorkerThread]>([])

    /// - Throws: when the system gives no more threads.
    public init(
        store: any GatewayStore, authority: TokenAuthority, rules: TokenRules, limits: LimitSettings = LimitSettings(),
        workers: WorkerSettings = WorkerSettings(), wallNow: @escaping @Sendable () -> WallTime = { EventLoop.wallNow() }
    ) throws(SystemError) {
        (self.store, self.rules, self.wallNow) = (store, Lock(rules), wallNow)
        keys = VerificationKeys(authority: authority)
        line = Lock(Line(queue: VerificationQueue(limits: limits)))
        for index in 0..<max(1, workers.verifiers) {
            let thread = try WorkerThread.start(name: "tokens-\(index)") { [self] in serve() }
            threads.withLock { $0.append(thread) }
        }
    }

    /// Ends the threads; whatever waits is answered `draining`.
    public func close() {
        let wake = line.withLock { line in
            line.isClosed = true
            return line.wake
        }
        for sender in wake { sender.send(()) }
        for thread in threads.withLock({ $0 }) { thread.join() }
    }

    /// Signatures looked at so far: cached tokens and those refused before are none of them.
    public var verificationCount: Int { verifications.withLock { $0 } }

    /// The imported key behind a token; nil when it is our own, which nobody deletes.
    func publicKeyARN(of token: VerifiedToken) -> String? {
        token.keyID == rules.withLock { $0.authorityKeyID } ? nil : token.keyID
    }

    /// Tokens that were found good before are held to these too.
    public func apply(_ settings: TokenSettings) { rules.withLock { $0.settings = settings } }

    /// Replies at once for tokens known to be genuine and for sources that may not ask; else from a verification thread.
    public func verify(_ token: Secret, source: IPAddress, reply: @escaping Reply) {
        let hash = CredentialHash(of: token)
        if let known = known.withLock({ $0.value(of: hash, at: EventLoop.monotonicNow()) }) { return reply(judge(known)) }
        let (isAccepted, isClosed, wake) = line.withLock { line in
            guard !line.isClosed else { return (false, true, [MailboxSender<Void>]()) }
            let job = Job(token: token, hash: hash, reply: reply)
            return (line.queue.add(job, from: .init(source), at: EventLoop.monotonicNow()), false, line.wake)
        }
        guard isAccepted else { return reply(.failure(Refusal(isClosed ? .draining : .tooManyFailures))) }
        for sender in wake { sender.send(()) }
    }

    private func serve() {
        // Without descriptors for a loop nothing else would run in this process either.
        guard let loop = try? EventLoop(),
            let mailbox = try? Mailbox<Void>(
                loop: loop,
                receive: { [unowned self] in
                    if !carryOut() { loop.stop() }
                })
        else { return }
        line.withLock { $0.wake.append(mailbox.sender) }
        mailbox.sender.send(())
        loop.run()
    }

    /// - Returns: false when the thread is to end.
    private func carryOut() -> Bool {
        while true {
            let (next, isClosed) = line.withLock { ($0.queue.next(), $0.isClosed) }
            guard let (job, source) = next else { return !isClosed }
            let result = isClosed ? .failure(Refusal(.draining)) : verify(job.token, job.hash)
            let now = EventLoop.monotonicNow()
            line.withLock { $0.queue.finish(source, failed: result.isWrongCredential, at: now) }
            job.reply(result)
        }
    }

    private func verify(_ token: Secret, _ hash: CredentialHash) -> Result<VerifiedToken, Refusal> {
        let verified: VerifiedToken
        do {
            let compact = try CompactToken(parsing: token.reveal())
            let claims = try ParticipantClaims(parsing: compact.payload)
            let (state, rules) = (store.state, rules.withLock { $0 })
            if let refusal = rules.check(claims, keyID: compact.keyID, in: state, at: wallNow()) { return .failure(refusal) }
            verifications.withLock { $0 += 1 }
            guard let key = keys.key(compact.keyID, in: state), key.isValid(compact.signature, over: compact.signingInput)
            else { return .failure(Refusal(.tokenRejected, sentence: "The token's signature is wrong: mint it again.")) }
            verified = VerifiedToken(claims: claims, keyID: compact.keyID, hash: hash)
        } catch {
            return .failure(error.refusal)
        }
        known.withLock { $0.set(verified, for: hash, at: EventLoop.monotonicNow()) }
        return judge(verified)
    }

    private func judge(_ token: VerifiedToken) -> Result<VerifiedToken, Refusal> {
        let (state, rules, now) = (store.state, rules.withLock { $0 }, wallNow())
        if let refusal = rules.check(token.claims, keyID: token.keyID, in: state, at: now)
            ?? rules.checkGenuine(token.claims, in: state, at: now)
        {
            return .failure(refusal)
        }
        return .success(token)
    }
}

extension TokenVerifier {
    /// The authorizer of WHIP: a genuine token with publish capability becomes a grant.
    ///
    /// - Parameter reports: told when a genuine token lacks the capability.
    public func authorizer(reports: any PublishReports) -> StoreAuthorizer.TokenAuthorizer {
        { [self] token, request, reply in
            verify(token, source: request.source.ip) { result in
                switch result {
                case .failure(let refusal): reply(.failure(refusal))
                case .success(let verified):
                    let grant = self.grant(verified, request)
                    guard !verified.claims.allowsPublish else { return reply(.success(grant)) }
                    let refusal = Refusal(.tokenCannotPublish)
                    reports.publishRefused(grant, protocol: request.ingestProtocol, refusal)
                    reply(.failure(refusal))
                }
            }
        }
    }

    private func grant(_ token: VerifiedToken, _ request: PublishRequest) -> PublishGrant {
        let claims = token.claims
        var grant = PublishGrant(
            participantID: claims.participantID, stageARN: claims.stageARN, stageID: claims.stageID, userID: claims.userID,
            attributes: claims.attributes, stageTags: store.state.stages[claims.stageARN]?.tags ?? [:],
            credentialHash: token.hash.text)
        (grant.userAgent, grant.publicKeyARN) = (request.userAgent, publicKeyARN(of: token))
        return grant
    }
}

extension Result where Failure == Refusal {
    /// Whether the token itself was wrong; expired, revoked and foreign ones are honest mistakes.
    fileprivate var isWrongCredential: Bool {
        guard case .failure(let refusal) = self else { return false }
        return refusal.code == .tokenMalformed || refusal.code == .tokenRejected
    }
}

extension TokenVerifier: TokenStanding {
    public func refusal(of bearer: TokenBearer) -> Refusal? { store.state.refusal(of: bearer, at: wallNow()) }
}

/// Public keys ready for use, by ARN; parsed once and forgotten when the state has them no more.
final class VerificationKeys: Sendable {
    private let authority: TokenAuthority
    private let parsed = Lock<[String: ES384PublicKey]>([:])

    init(authority: TokenAuthority) { self.authority = authority }

    func key(_ arn: String, in state: StoreState) -> ES384PublicKey? {
        if arn == authority.keyID { return authority.publicKey }
        guard let record = state.publicKeys[arn] else { return nil }
        if let key = parsed.withLock({ $0[arn] }) { return key }
        guard let key = try? ES384PublicKey(pem: Array(record.material.utf8)) else { return nil }
        parsed.withLock { parsed in
            parsed = parsed.filter { state.publicKeys[$0.key] != nil }
            parsed[arn] = key
        }
        return key
    }
}

/// A token whose signature was found good once. What may change since (time, key, stage, revocation) is asked at every use.
public struct VerifiedToken: Sendable {
    public var claims: ParticipantClaims
    public var keyID: String
    public var hash: CredentialHash
}

/// The claims of tokens seen lately, by hash; never a verdict.
typealias VerifiedTokens = FadingTable<CredentialHash, VerifiedToken>

extension VerifiedTokens {
    /// A token is in use for hours, and one signature an hour is nothing.
    init() { self.init(maximumCount: 20_000, lifetime: .seconds(3_600)) }
}
