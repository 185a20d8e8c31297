public import Admission
import EventLoop
public import Refusals

/// Asks another authority about every publish that the store would grant; both must agree. Fails closed.
public final class HookedAuthorizer: Authorizer {
    struct Question: Sendable {
        var grant: PublishGrant
        var request: PublishRequest
        var reply: @Sendable (Result<PublishGrant, Refusal>) -> Void
    }

    private let authorizer: any Authorizer
    private let questions = Lock<MailboxSender<Question>?>(nil)

    public init(behind authorizer: any Authorizer) { self.authorizer = authorizer }

    /// Questions go here from now on; before that everything is refused.
    func attach(_ sender: MailboxSender<Question>) { questions.withLock { $0 = sender } }

    public func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
        authorizer.authorize(request) { [self] result in
            guard case .success(let grant) = result else { return reply(result) }
            let sender = questions.withLock { $0 }
            guard sender?.send(Question(grant: grant, request: request, reply: reply)) == true else {
                return reply(.failure(Refusal(.authorityUnavailable)))
            }
        }
    }
}
