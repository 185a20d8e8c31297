import CNice

/// The checking side of ICE for tests and the benchmark: makes binding requests and reads their responses.
@safe public final class STUNClient {
    /// USERNAME, MESSAGE-INTEGRITY, ERROR-CODE, UNKNOWN-ATTRIBUTES, XOR-MAPPED-ADDRESS, PRIORITY, USE-CANDIDATE.
    private let agent = AgentHandle(knowing: [0x0006, 0x0008, 0x0009, 0x000A, 0x0020, 0x0024, 0x0025])

    /// A client that has sent nothing.
    public init() {}

    /// A connectivity check of the controlling side (RFC 8445 §7.2).
    /// - Parameter username: `remote:local` ufrags.
    public func check(username: String, password: [UInt8], useCandidate: Bool) -> [UInt8] {
        var message = unsafe StunMessage()
        var buffer = [UInt8](repeating: 0, count: 512)
        let name = Array(username.utf8)
        let count = unsafe stun_usage_ice_conncheck_create(
            agent.handle, &message, &buffer, buffer.count, name, name.count, password, password.count, useCandidate,
            true, Self.priority, 0x1234_5678, nil, STUN_USAGE_ICE_COMPATIBILITY_RFC5245)
        return Array(buffer[..<count])
    }

    /// Of a peer-reflexive candidate.
    private static let priority: UInt32 = 1_845_501_695

    /// What the peer answered.
    public enum Response: Equatable, Sendable {
        /// The check went through.
        case success
        /// 487, or another error.
        case roleConflict
        /// Not a response to one of our checks, or one with wrong integrity.
        case invalid
    }

    /// - Parameter datagram: whatever came; one that is no sound STUN is `.invalid`.
    public func read(_ datagram: [UInt8]) -> Response {
        let isSound = unsafe datagram.withUnsafeBytes { unsafe STUNMessage(preChecking: $0) != nil }
        guard isSound else { return .invalid }
        var message = unsafe StunMessage()
        let status = unsafe stun_agent_validate(agent.handle, &message, datagram, datagram.count, nil, nil)
        guard status == STUN_VALIDATION_SUCCESS else { return .invalid }
        if unsafe stun_message_get_class(&message) == STUN_ERROR { return .roleConflict }
        return .success
    }
}
