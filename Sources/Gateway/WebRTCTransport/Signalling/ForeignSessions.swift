public import HTTP
public import Refusals
import SDP

/// Requests for sessions that this process does not have.
extension TransportContext {
    /// Whether another process of this node has made the session.
    public func isOfAnotherProcess(_ id: String) -> Bool {
        guard let home = SessionIdentifier.Home(of: id) else { return false }
        return home.node == configuration.node && home.generation != configuration.generation
    }

    /// Strangers' requests, and bodies that would be refused there, are passed on to no other process or node.
    /// - Throws: what such a request is refused for.
    public func checkPassedOn(_ request: HTTPRequest, _ id: String) throws(Refusal) {
        guard request.body.count <= SessionDescription.maximumByteCount else { throw Refusal(.bodyTooLarge) }
        guard let token = request.presentedToken else { throw request.refusalWithoutToken }
        guard SessionIdentifier.isSealed(id, for: token, key: configuration.sessionKey) else { throw Refusal(.foreignSession) }
    }
}
