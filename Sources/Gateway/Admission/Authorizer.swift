public import Refusals

/// Decides who may publish: one for RTMP and WHIP alike. Asked from a worker, answered on a thread of its own choosing.
public protocol Authorizer: Sendable {
    /// Calls `reply` exactly once, on any thread, with the grant or the refusal to tell the encoder.
    func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void)
}
