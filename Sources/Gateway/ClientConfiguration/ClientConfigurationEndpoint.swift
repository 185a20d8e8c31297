import Admission
import EncoderSetup
public import EventLoop
public import HTTP
import JSON
import Refusals
import Store
public import Wire

/// `POST /api/v3/GetClientConfiguration` on one worker's public HTTP listeners: what OBS asks before it goes live (Amazon IVS'
/// Broadcast Software Integration API). Confined to the worker's loop.
///
/// What speaks against the publish is no HTTP error: OBS shows the words of an answer, and of an error the number alone.
public final class ClientConfigurationEndpoint {
    public static let path = "/api/v3/GetClientConfiguration"

    private let context: ClientConfigurationContext
    private let admits: (IPAddress) -> Bool
    /// The way back for what the authorizer, the leases and the history answer.
    private let replies: ReplyBox

    /// - Parameter admits: whether a source may ask once more, by a limit of this endpoint's own.
    /// - Throws: when the kernel gives no more descriptors.
    public init(loop: EventLoop, context: ClientConfigurationContext, admits: @escaping (IPAddress) -> Bool) throws(SystemError) {
        (self.context, self.admits) = (context, admits)
        replies = try ReplyBox(loop: loop)
    }

    /// Answers a request for our path, now or later on this loop.
    /// - Returns: false when the path is not ours; then `respond` is not called.
    public func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void) -> Bool {
        guard request.path == Self.path else { return false }
        if let problem = problem(with: request) {
            respond(problem)
        } else {
            read(request, respond)
        }
        return true
    }

    private func problem(with request: HTTPRequest) -> HTTPResponse? {
        guard request.method == .post else { return ProblemDocument(.methodNotAllowed).response(headers: ["Allow": "POST"]) }
        guard admits(request.source.ip) else {
            let refusal = Refusal(.tooManyRequests)
            return ProblemDocument(429, detail: refusal.text, extensions: ["code": .string(refusal.code.identifier)])
                .response(headers: ["Retry-After": "2"])
        }
        // Browsers send this type to other origins only after they have asked, which is not answered.
        guard request.contentType?.matches("application/json") == true else {
            return ProblemDocument(415, detail: "The body must be application/json.").response()
        }
        return nil
    }

    private func read(_ request: HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) {
        let asked: ClientConfigurationRequest
        do throws(ClientConfigurationRequest.Fault) { asked = try ClientConfigurationRequest(parsing: request.body) } catch {
            return respond(ProblemDocument(.badRequest, detail: error.words).response())
        }
        authorize(asked, from: request.source) { [context] configuration in
            context.metrics.count(configuration.status)
            // It holds the stream key.
            respond(HTTPResponse(.ok, json: .object(configuration.document), headers: ["Cache-Control": "no-store"]))
        }
    }

    // MARK: - One question after the other

    private typealias Answer = (OBSConfiguration) -> Void

    /// By the authorizer of every publish: what it counts and refuses, it counts and refuses here.
    private func authorize(_ asked: ClientConfigurationRequest, from source: SocketAddress, _ answer: @escaping Answer) {
        let request = PublishRequest(
            credential: .streamKey(asked.streamKey), ingestProtocol: context.setup.ingestProtocol, source: source,
            userAgent: asked.client)
        replies.ask { [context] reply in
            context.authorizer.authorize(request) { reply($0) }
        } then: { [unowned self] (result: Result<PublishGrant, Refusal>?) in
            switch result ?? .failure(Refusal(.authorityUnavailable)) {
            case .success(let grant):
                look(for: grant) { [context] in answer(context.configuration(for: asked, request, grant, $0)) }
            case .failure(let refusal): answer(context.refuse(asked, request, refusal))
            }
        }
    }

    /// The key is good: who has it now?
    private func look(for grant: PublishGrant, _ then: @escaping (PublishOutlook) -> Void) {
        let participant = StageParticipant(grant.participantID, of: grant.stageARN)
        replies.ask { [context] reply in
            context.leases.live(among: [participant]) { reply(try? $0.get()) }
        } then: { [unowned self] (live: Set<StageParticipant>??) in
            lookBack(at: grant, PublishOutlook(isLive: (live ?? nil).map { !$0.isEmpty }), then)
        }
    }

    /// And what became of the last publish with it?
    private func lookBack(at grant: PublishGrant, _ outlook: PublishOutlook, _ then: @escaping (PublishOutlook) -> Void) {
        replies.ask { [context] reply in
            context.setup.store.read {
                try BrokenPublish.last(of: grant, in: $0)
            } reply: {
                reply((try? $0.get()) ?? nil)
            }
        } then: { [context] (last: BrokenPublish??) in
            var outlook = outlook
            outlook.lastEnd = (last ?? nil).map { context.words(for: $0, of: grant) }
            then(outlook)
        }
    }
}
