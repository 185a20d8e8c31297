import CNice
import Glibc
public import Wire

/// The lite side of ICE for all sessions of one worker (RFC 8445 §2.5): answers checks on libnice's STUN library, sends none.
///
/// One 12 KB state object in all, no descriptor, no timer. Confined to its worker.
@safe public final class STUNAgent {
    private let agent: UnsafeMutablePointer<StunAgent>
    private let knownAttributes: UnsafeMutablePointer<UInt16>
    private let isControlling: Bool

    /// - Parameter isControlling: our role; the gateway's is the other one, the benchmark's publisher answers full agents in this.
    public init(isControlling: Bool = false) {
        self.isControlling = isControlling
        unsafe agent = .allocate(capacity: 1)
        // USERNAME, MESSAGE-INTEGRITY, PRIORITY, USE-CANDIDATE, then the zero that ends the list. The list must outlive the agent.
        let known: [UInt16] = [0x0006, 0x0008, 0x0024, 0x0025, 0]
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

    /// What an authenticated request led to; `byteCount` bytes of `reply` are to be sent back whence it came.
    public enum Answer: Equatable, Sendable {
        case success(byteCount: Int)
        /// The peer claims our role (RFC 8445 §7.3.1.1): 487.
        case roleConflict(byteCount: Int)
        /// 420 with the attributes we do not know.
        case unknownAttributes(byteCount: Int)
    }

    /// Verifies one binding request with `password` and writes the response.
    ///
    /// PRIORITY and ICE-CONTROLLING may be missing (older ffmpeg). Without valid integrity nothing is written: no answer, no oracle.
    /// - Parameter request: a datagram that `STUNMessage(preChecking:)` accepted.
    /// - Parameter reply: at least `maximumReplyByteCount`.
    public func answer(
        _ request: UnsafeRawBufferPointer, password: [UInt8], from source: SocketAddress,
        into reply: UnsafeMutableRawBufferPointer
    ) throws(STUNError) -> Answer {
        precondition(!password.isEmpty, "libnice skips the integrity check for an empty key")
        precondition(reply.count >= Self.maximumReplyByteCount)
        var message = unsafe StunMessage()
        return try unsafe STUNPassword.lend(password) { (lent: UnsafeMutablePointer<STUNPassword>) throws(STUNError) -> Answer in
            let status = unsafe stun_agent_validate(
                agent, &message, request.baseAddress?.assumingMemoryBound(to: UInt8.self), request.count, handOverPassword, lent)
            switch status {
            case STUN_VALIDATION_SUCCESS: return try unsafe respond(to: &message, from: source, into: reply)
            case STUN_VALIDATION_UNKNOWN_REQUEST_ATTRIBUTE:
                return .unknownAttributes(byteCount: try unsafe refuseUnknown(&message, into: reply))
            case STUN_VALIDATION_UNAUTHORIZED, STUN_VALIDATION_UNAUTHORIZED_BAD_REQUEST: throw .unauthorized
            case STUN_VALIDATION_BAD_REQUEST: throw .badFingerprint
            default: throw .malformed
            }
        }
    }

    private func respond(
        to request: inout StunMessage, from source: SocketAddress, into reply: UnsafeMutableRawBufferPointer
    ) throws(STUNError) -> Answer {
        var (address, length) = sockaddr_storage.make(source)
        var response = unsafe StunMessage()
        var byteCount = reply.count
        var isControlling = isControlling
        // Tie breaker 0 makes libnice answer 487 to a peer that says it is controlled as we are, rather than switch our role.
        let result = unsafe stun_usage_ice_conncheck_create_reply(
            agent, &request, &response, reply.baseAddress?.assumingMemoryBound(to: UInt8.self), &byteCount, &address, length,
            &isControlling, 0, STUN_USAGE_ICE_COMPATIBILITY_RFC5245)
        switch result {
        case STUN_USAGE_ICE_RETURN_SUCCESS: return .success(byteCount: byteCount)
        case STUN_USAGE_ICE_RETURN_ROLE_CONFLICT: return .roleConflict(byteCount: byteCount)
        case STUN_USAGE_ICE_RETURN_INVALID_REQUEST, STUN_USAGE_ICE_RETURN_INVALID_METHOD: throw .notABindingRequest
        default: throw .failed
        }
    }

    private func refuseUnknown(
        _ request: inout StunMessage, into reply: UnsafeMutableRawBufferPointer
    ) throws(STUNError) -> Int {
        var response = unsafe StunMessage()
        let byteCount = unsafe stun_agent_build_unknown_attributes_error(
            agent, &response, reply.baseAddress?.assumingMemoryBound(to: UInt8.self), reply.count, &request)
        guard byteCount > 0 else { throw .failed }
        return byteCount
    }

    /// A success response with integrity and fingerprint is below 100 bytes.
    public static let maximumReplyByteCount = 512
}

/// A password lent to libnice for the time of one call; its reply keeps pointing to it.
@safe struct STUNPassword {
    var bytes: UnsafeMutablePointer<UInt8>?
    var count: Int

    static func lend<Result>(
        _ password: [UInt8], _ body: (UnsafeMutablePointer<STUNPassword>) throws(STUNError) -> Result
    ) throws(STUNError) -> Result {
        var copy = password
        return try unsafe copy.withUnsafeMutableBufferPointer { buffer throws(STUNError) -> Result in
            var lent = unsafe STUNPassword(bytes: buffer.baseAddress, count: buffer.count)
            return try unsafe body(&lent)
        }
    }
}

/// libnice's validater: hands over the one password that fits the ufrag already looked up.
private func handOverPassword(
    _: UnsafeMutablePointer<StunAgent>?, _: UnsafeMutablePointer<StunMessage>?, _: UnsafeMutablePointer<UInt8>?, _: UInt16,
    _ password: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, _ count: UnsafeMutablePointer<Int>?,
    _ context: UnsafeMutableRawPointer?
) -> Bool {
    guard let lent = unsafe context?.assumingMemoryBound(to: STUNPassword.self).pointee else { return false }
    unsafe password?.pointee = lent.bytes
    unsafe count?.pointee = lent.count
    return true
}
