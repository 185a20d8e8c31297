import CNice

/// The checking side of ICE for tests and the benchmark: makes binding requests and reads their responses.
@safe public final class STUNClient {
    private let agent: UnsafeMutablePointer<StunAgent>
    private let knownAttributes: UnsafeMutablePointer<UInt16>

    public init() {
        unsafe agent = .allocate(capacity: 1)
        let known: [UInt16] = [0x0006, 0x0008, 0x0009, 0x000A, 0x0020, 0x0024, 0x0025, 0]
        unsafe knownAttributes = .allocate(capacity: known.count)
        for (index, attribute) in known.enumerated() { unsafe knownAttributes[index] = attribute }
        let usage = StunAgentUsageFlags(
            STUN_AGENT_USAGE_SHORT_TERM_CREDENTIALS.rawValue | STUN_AGENT_USAGE_USE_FINGERPRINT.rawValue)
        unsafe stun_agent_init(agent, knownAttributes, STUN_COMPATIBILITY_RFC5389, usage)
    }

    deinit {
        unsafe agent.deallocate()
        unsafe knownAttributes.deallocate()
    }

    /// A connectivity check (RFC 8445 §7.2).
    /// - Parameter username: `remote:local` ufrags.
    public func check(
        username: String, password: [UInt8], useCandidate: Bool, isControlling: Bool = true, priority: UInt32 = 1_845_501_695
    ) -> [UInt8] {
        var message = unsafe StunMessage()
        var buffer = [UInt8](repeating: 0, count: 512)
        let name = Array(username.utf8)
        let count = unsafe stun_usage_ice_conncheck_create(
            agent, &message, &buffer, buffer.count, name, name.count, password, password.count, useCandidate, isControlling,
            priority,
            0x1234_5678, nil, STUN_USAGE_ICE_COMPATIBILITY_RFC5245)
        return Array(buffer[..<count])
    }

    /// What the peer answered.
    public enum Response: Equatable, Sendable {
        case success
        case roleConflict
        /// Not a response to one of our checks, or one with wrong integrity.
        case invalid
    }

    public func read(_ datagram: [UInt8]) -> Response {
        let isSound = unsafe datagram.withUnsafeBytes { unsafe STUNMessage(preChecking: $0) != nil }
        guard isSound else { return .invalid }
        var message = unsafe StunMessage()
        let status = unsafe stun_agent_validate(agent, &message, datagram, datagram.count, nil, nil)
        guard status == STUN_VALIDATION_SUCCESS else { return .invalid }
        if unsafe stun_message_get_class(&message) == STUN_ERROR { return .roleConflict }
        return .success
    }
}
