import CNice
import Glibc
public import Wire

/// The lite side of ICE for all sessions of one worker (RFC 8445 §2.5): answers checks on libnice's STUN library, sends none.
///
/// One 12 KB state object in all, no descriptor, no timer. Confined to its worker.
///
///     guard let message = STUNMessage(preChecking: datagram), message.isBindingRequest else { return }
///     if case .success(let count) = try agent.answer(datagram, password: password, from: source, into: reply) {
///         send(reply[..<count], to: source)
///     }
@safe public final class STUNAgent {
    private let agent: AgentHandle
    private let isControlling: Bool

    /// - Parameter isControlling: our role; the gateway's is the other one, the benchmark's
    ///   publisher answers full agents in this.
    public init(isControlling: Bool = false) {
        self.isControlling = isControlling
        agent = AgentHandle(knowing: [0x0006, 0x0008, 0x0024, 0x0025])  // USERNAME, MESSAGE-INTEGRITY, PRIORITY, USE-CANDIDATE
    }

    /// What an authenticated request led to; `byteCount` bytes of `reply` are to be sent back whence it came.
    public enum Answer: Equatable, Sendable {
        /// The check is genuine: its path is valid.
        case success(byteCount: Int)
        /// The peer claims our role (RFC 8445 §7.3.1.1): 487.
        case roleConflict(byteCount: Int)
        /// 420 with the attributes we do not know.
        case unknownAttributes(byteCount: Int)
    }

    /// Verifies one binding request with `password` and writes the response.
    ///
    /// PRIORITY and ICE-CONTROLLING may be missing (older ffmpeg). Without valid integrity nothing is
    /// written: no answer, no oracle.
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
                agent.handle, &message, request.baseAddress?.assumingMemoryBound(to: UInt8.self), request.count, handOverPassword,
                lent)
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
            agent.handle, &request, &response, reply.baseAddress?.assumingMemoryBound(to: UInt8.self), &byteCount, &address,
            length,
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
            agent.handle, &response, reply.baseAddress?.assumingMemoryBound(to: UInt8.self), reply.count, &request)
        guard byteCount > 0 else { throw .failed }
        return byteCount
    }

    /// A success response with integrity and fingerprint is below 100 bytes.
    public static let maximumReplyByteCount = 512
}

/// libnice's state with the list of attributes that it understands, which has to outlive it.
@safe final class AgentHandle {
    let handle: UnsafeMutablePointer<StunAgent>
    private let knownAttributes: UnsafeMutablePointer<UInt16>

    /// Short-term credentials and fingerprints, as ICE demands them (RFC 8445 §7.1).
    init(knowing attributes: [UInt16]) {
        unsafe handle = .allocate(capacity: 1)
        unsafe knownAttributes = .allocate(capacity: attributes.count + 1)
        for (index, attribute) in (attributes + [0]).enumerated() { unsafe knownAttributes[index] = attribute }
        let usage = StunAgentUsageFlags(
            STUN_AGENT_USAGE_SHORT_TERM_CREDENTIALS.rawValue | STUN_AGENT_USAGE_USE_FINGERPRINT.rawValue)
        unsafe stun_agent_init(handle, knownAttributes, STUN_COMPATIBILITY_RFC5389, usage)
    }

    deinit {
        unsafe handle.deallocate()
        unsafe knownAttributes.deallocate()
    }
}

/// A password lent to libnice for the time of one call; its reply keeps pointing to it.
@safe private struct STUNPassword {
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

/// Why a datagram got no binding response. None of these is ever answered.
public enum STUNError: Error, Equatable, Sendable {
    /// Not a message of RFC 8489 as the pre-check walks it.
    case malformed
    /// A method other than Binding, or no request.
    case notABindingRequest
    /// MESSAGE-INTEGRITY is missing or made with another password.
    case unauthorized
    /// FINGERPRINT is missing or wrong.
    case badFingerprint
    /// The reply did not fit, or libnice failed.
    case failed
}

extension sockaddr_storage {
    /// The C form of an address, as XOR-MAPPED-ADDRESS is written from it.
    fileprivate static func make(_ address: SocketAddress) -> (sockaddr_storage, socklen_t) {
        var storage = sockaddr_storage()
        switch address.ip {
        case .v4(let ip):
            let v4 = sockaddr_in(
                sin_family: sa_family_t(AF_INET), sin_port: address.port.bigEndian, sin_addr: in_addr(s_addr: ip.bigEndian),
                sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v4, as: sockaddr_in.self) }
            return (storage, socklen_t(MemoryLayout<sockaddr_in>.size))
        case .v6(let high, let low, let scope):
            var v6 = sockaddr_in6()
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = address.port.bigEndian
            v6.sin6_scope_id = scope
            unsafe withUnsafeMutableBytes(of: &v6.sin6_addr) {
                unsafe $0.storeBytes(of: high.bigEndian, as: UInt64.self)
                unsafe $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v6, as: sockaddr_in6.self) }
            return (storage, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
    }
}
