public import Admission
public import Refusals
public import Wire

/// The authorizer of a gateway with its own store: stream keys are answered at once, tokens once they are verified.
public final class StoreAuthorizer: Authorizer {
    /// Answers for the tokens of WHIP.
    public typealias TokenAuthorizer =
        @Sendable (Secret, PublishRequest, @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) -> Void

    private let streamKeys: StreamKeyAuthorizer
    private let tokens: TokenAuthorizer

    public init(store: any PlatformStore, reports: any PublishReports, tokens: @escaping TokenAuthorizer) {
        streamKeys = StreamKeyAuthorizer(store: store, reports: reports)
        self.tokens = tokens
    }

    public func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
        switch request.credential {
        case .streamKey(let key): reply(streamKeys.authorize(key, request))
        case .token(let token): tokens(token, request, reply)
        }
    }
}
