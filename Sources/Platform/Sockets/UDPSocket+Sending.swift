import CShim
import EventLoop
import Glibc
public import Wire

/// What became of something sent. None of these ends a session.
public enum SendOutcome: Equatable, Sendable {
    case sent
    /// The send buffer is full: keep it, and send again after `onWritable`.
    case wouldBlock
    /// Sent, but the peer's host said about an earlier datagram that nobody listens (ICMP): a hint about its health.
    case refused
    /// Gone; errno says why.
    case failed(CInt)
}

/// What became of a run of datagrams.
public struct RunOutcome: Equatable, Sendable {
    /// Datagrams that are done with, sent or failed. With `.wouldBlock` the caller keeps those behind.
    public var count = 0
    public var outcome = SendOutcome.sent

    public init(count: Int = 0, outcome: SendOutcome = .sent) { (self.count, self.outcome) = (count, outcome) }
}

extension UDPSocket {
    /// Sends one datagram, from the local address that its peer knows.
    @discardableResult
    public func send(_ payload: UnsafeRawBufferPointer, to peer: SocketAddress, from local: IPAddress? = nil) -> SendOutcome {
        vectors.removeAll()
        _ = unsafe vectors.append(payload)
        return transmit(segments: 1, segmentSize: payload.count, to: peer.shim, from: local?.shim ?? shim_address())
    }

    @discardableResult
    public func send(_ payload: [UInt8], to peer: SocketAddress, from local: IPAddress? = nil) -> SendOutcome {
        unsafe payload.withUnsafeBytes { unsafe send($0, to: peer, from: local) }
    }

    /// Sends the pieces, one after the other, cut into datagrams of `segmentSize` bytes, of which the last may be shorter.
    ///
    /// Runs go to the kernel in one call (UDP_SEGMENT): a sixth of the cost of a call each. The caller sees no limit of that.
    public func sendRun(
        _ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>, segmentSize: Int, to peer: SocketAddress,
        from local: IPAddress? = nil
    ) -> RunOutcome {
        precondition(segmentSize > 0, "datagrams of a run have a size")
        let (peerAddress, localAddress) = (peer.shim, local?.shim ?? shim_address())
        var run = unsafe SegmentCursor(pieces)
        var result = RunOutcome()
        while !run.isAtEnd {
            let start = run
            let limit =
                wasRunRefused
                ? segmentation.segments(ofSize: segmentSize, to: peer, now: loop.now)
                : SegmentationPolicy.segments(ofSize: segmentSize)
            let segments = run.take(limit, segmentSize: segmentSize, into: vectors)
            let outcome = transmit(segments: segments, segmentSize: segmentSize, to: peerAddress, from: localAddress)
            if case .failed(let code) = outcome, segments > 1, Self.isAboutSegmentation(code) {
                segmentation.runWasRefused(by: peer, now: loop.now)
                wasRunRefused = true
                run = start
                continue
            }
            if outcome == .wouldBlock { return RunOutcome(count: result.count, outcome: .wouldBlock) }
            result.count += segments
            if outcome != .sent { result.outcome = outcome }
        }
        return result
    }

    /// The same for pieces in an array.
    public func sendRun(
        _ pieces: [UnsafeRawBufferPointer], segmentSize: Int, to peer: SocketAddress, from local: IPAddress? = nil
    ) -> RunOutcome {
        unsafe pieces.withUnsafeBufferPointer { unsafe sendRun($0, segmentSize: segmentSize, to: peer, from: local) }
    }

    /// Sends what is gathered in `vectors`.
    private func transmit(
        segments: Int, segmentSize: Int, to peer: shim_address, from local: shim_address
    ) -> SendOutcome {
        var outcome = SendOutcome.sent
        // A pending ICMP error is told by the next send in place of sending; the second attempt sends.
        for attempt in 0..<2 {
            let status = transmitOnce(segments > 1 ? UInt16(segmentSize) : 0, peer, local)
            if status >= 0 {
                count(sent: segments)
                return outcome
            }
            switch errno {
            case EAGAIN: return .wouldBlock
            case ECONNREFUSED where attempt == 0: outcome = .refused
            case let code where segments > 1 && Self.isAboutSegmentation(code): return .failed(code)
            case let code:
                count(failed: segments)
                return .failed(code)
            }
        }
        return outcome
    }

    private func transmitOnce(_ segmentSize: UInt16, _ peer: shim_address, _ local: shim_address) -> Int {
        var (peer, local) = (peer, local)
        return unsafe shim_send_datagrams(
            descriptor.number, family, vectors.start, CInt(vectors.count), segmentSize, &peer, &local)
    }

    /// EINVAL: the path is smaller; EIO: no checksum offload; EMSGSIZE: more than 64 KB.
    private static func isAboutSegmentation(_ code: CInt) -> Bool { code == EINVAL || code == EIO || code == EMSGSIZE }
}
