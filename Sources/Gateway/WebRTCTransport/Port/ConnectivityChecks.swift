import GatewayMetrics
import STUN
import Wire

/// Connectivity checks (RFC 8445 §7.3), the only thing that we take from strangers: finds the session that a check is for,
/// verifies its password, and answers. Confined to the loop.
@safe final class ConnectivityChecks {
    /// What a datagram is found to be.
    enum Verdict {
        /// Answered with success.
        case genuine(GenuineCheck)
        /// Of no session of this process, and neither answered nor counted.
        case foreign
        /// Counted, or answered with an error: that is all.
        case rejected
    }

    private let context: TransportContext
    private let agent = STUNAgent()
    private let reply = UnsafeMutableRawBufferPointer.allocate(byteCount: STUNAgent.maximumReplyByteCount, alignment: 8)

    init(_ context: TransportContext) { self.context = context }

    deinit { unsafe reply.deallocate() }

    /// - Parameters:
    ///   - tuple: where the check comes from, if that is validated. Asked for only when the ufrag is
    ///     ours: random ones cost no look-up.
    ///   - send: sends an answer back there.
    func receive(_ datagram: ReceivedDatagram, tuple: () -> PeerTuple?, send: (UnsafeRawBufferPointer) -> Void) -> Verdict {
        guard let message = unsafe STUNMessage(preChecking: datagram.bytes), message.isBindingRequest, message.hasIntegrity,
            let ufrag = message.localUfrag
        else { return garbage() }
        guard context.mint.isOurs(ufrag) else { return .foreign }
        let tuple = tuple()
        guard let (entry, password) = owner(of: ufrag, at: tuple) else { return garbage() }
        do throws(STUNError) {
            guard try unsafe answer(datagram, password: password, send) else { return .rejected }
            context.metrics.checks.increment()
            return .genuine(
                GenuineCheck(
                    entry: entry, ufrag: ufrag, password: password, useCandidate: message.useCandidate, path: datagram.path,
                    arrival: datagram.arrival))
        } catch {
            context.metrics.rejectedChecks.increment()
            if tuple == nil { entry.checkRejected() }
            return .rejected
        }
    }

    private func garbage() -> Verdict {
        context.metrics.garbage.increment()
        return .rejected
    }

    private func owner(of ufrag: LocalUfrag, at tuple: PeerTuple?) -> (any TransportEntry, [UInt8])? {
        if let member = tuple?.member(ufrag: ufrag) { return (member.entry, member.password) }
        guard let entry = context.directory.entry(ufrag: ufrag), let password = entry.transport.password(of: ufrag) else {
            return nil
        }
        return (entry, password)
    }

    /// - Returns: whether the answer is a success.
    private func answer(
        _ request: ReceivedDatagram, password: [UInt8], _ send: (UnsafeRawBufferPointer) -> Void
    ) throws(STUNError) -> Bool {
        switch try unsafe agent.answer(request.bytes, password: password, from: request.path.remote, into: reply) {
        case .success(let byteCount):
            unsafe send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(reply)[..<byteCount]))
            return true
        case .roleConflict(let byteCount), .unknownAttributes(let byteCount):
            unsafe send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(reply)[..<byteCount]))
            return false
        }
    }
}

/// A check whose password was right: it validates the tuple from which it came for the session.
struct GenuineCheck {
    let entry: any TransportEntry
    let ufrag: LocalUfrag
    let password: [UInt8]
    let useCandidate: Bool
    let path: MediaPath
    let arrival: MonotonicTime
}
