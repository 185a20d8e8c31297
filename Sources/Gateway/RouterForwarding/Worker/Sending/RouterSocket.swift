public import EventLoop
import GatewayMetrics
import RTCP
import Sockets
public import Wire

/// A worker's one UDP socket toward all routers: packets of its legs out, feedback to the legs by SSRC. Confined to the worker.
public final class RouterSocket {
    public let loop: EventLoop
    /// Counted since the socket was made.
    public private(set) var feedback = FeedbackCounters()

    /// Scratch that every leg fills and sends within one call.
    let batch = WireBatch()
    let protectedBatch = WireBatch()
    /// Where packets are protected; made when the first leg needs it.
    private(set) lazy var slots = ProtectionSlots()
    let pool = PacketPool()
    private let drainBatch = WireBatch()
    private let socket: UDPSocket
    let metrics: RouterMetrics?
    /// By the router's name.
    private var traffic: [String: RouterTraffic] = [:]
    private var legs: [UInt32: RouterLeg] = [:]
    /// Legs with SRTP by where their feedback comes from: it names no SSRC of ours before it is unprotected.
    private var protectedLegs: [SocketAddress: [RouterLeg]] = [:]
    private var paced: [SendQueue] = []
    private var blocked: [SendQueue] = []
    /// When frames arrived that are measured and wait for their turn's end.
    private var measured: [MonotonicTime] = []
    private var pacer: TimerWatch?

    /// - Parameter address: where feedback comes back to; port 0 takes a free one.
    public init(
        loop: EventLoop, address: SocketAddress = SocketAddress(.anyV6, port: 0), metrics: RouterMetrics? = nil
    ) throws(SystemError) {
        (self.loop, self.metrics) = (loop, metrics)
        socket = try UDPSocket(loop: loop, address: address)
        socket.gatherRuns()
        socket.onDatagrams = { [unowned self] batch in for datagram in batch { receive(datagram) } }
        socket.onWritable = { [unowned self] in writableAgain() }
        socket.onRefusal = { [metrics] in metrics?.unsent.increment(by: $0) }
        socket.onGathered = { [unowned self] in observeLatency() }
    }

    /// Where media comes from and feedback goes.
    public var localAddress: SocketAddress { socket.localAddress }

    func register(_ leg: RouterLeg, ssrc: UInt32) { legs[ssrc] = leg }
    func unregister(ssrc: UInt32) {
        legs[ssrc] = nil
        if legs.isEmpty { pool.giveAllBack() }
    }

    func registerProtected(_ leg: RouterLeg, at source: SocketAddress) { protectedLegs[source, default: []].append(leg) }
    func unregisterProtected(_ leg: RouterLeg, at source: SocketAddress) {
        protectedLegs[source]?.removeAll { $0 === leg }
        if protectedLegs[source]?.isEmpty == true { protectedLegs[source] = nil }
    }

    func makeQueue(to destination: SocketAddress) -> SendQueue {
        let queue = SendQueue(output: self, pool: pool, scratch: drainBatch, destination: destination)
        queue.onDrop = { [metrics] in metrics?.droppedPackets.increment(by: $0) }
        return queue
    }

    /// Sends one RTCP compound. A full socket loses it: reports are repeated, and of a BYE the end of the announce tells, too.
    func sendReport(_ compound: [UInt8], to destination: SocketAddress) {
        socket.send(compound, to: destination)
        // Every leg reports once a second: no timer is needed.
        pool.look(at: loop.now)
    }

    func sendAgain(_ packet: UnsafeRawBufferPointer, to destination: SocketAddress) {
        unsafe socket.send(packet, to: destination)
        metrics?.retransmissions.increment()
    }

    /// Measures from a frame's arrival until what was sent of it so far leaves.
    func measureLatency(since arrival: MonotonicTime) { if metrics != nil { measured.append(arrival) } }

    private func observeLatency() {
        guard let metrics, !measured.isEmpty else { return }
        let now = EventLoop.monotonicNow()
        for arrival in measured { metrics.latency.observe(now - arrival) }
        measured.removeAll(keepingCapacity: true)
    }

    /// Where a leg counts what it hands to its queue; nil for a router that is not of the configuration.
    func traffic(to router: String) -> RouterTraffic? {
        if let known = traffic[router] { return known }
        guard let series = metrics?.routers[router] else { return nil }
        let new = RouterTraffic(series)
        traffic[router] = new
        return new
    }

    /// Feedback carries the SSRC it is about in each packet; those about none of ours are counted and dropped.
    private func receive(_ datagram: Datagram) {
        let bytes = unsafe UnsafeRawBufferPointer(datagram.payload)
        guard bytes.count >= 8, bytes.count <= Self.maximumFeedbackByteCount, unsafe RTCPCompound.isRTCP(secondByte: bytes[1]),
            let packets = unsafe parse(bytes, from: datagram.source)
        else {
            feedback.malformed += 1
            metrics?.malformedFeedback.increment()
            return
        }
        for packet in packets { deliver(packet, from: datagram.source) }
    }

    private func parse(_ bytes: UnsafeRawBufferPointer, from source: SocketAddress) -> [RTCPPacket]? {
        guard let candidates = protectedLegs[source] else { return unsafe try? RTCPCompound.parse(bytes.bytes) }
        for leg in candidates {
            guard let plain = unsafe leg.protection?.unprotect(control: Array(bytes)) else { continue }
            return unsafe try? RTCPCompound.parse(plain.span.bytes)
        }
        return nil
    }

    private func deliver(_ packet: RTCPPacket, from source: SocketAddress) {
        var isDelivered = false
        packet.forEachMediaSSRC { ssrc in
            guard let leg = legs[ssrc], leg.receive(packet, about: ssrc, from: source) else { return }
            isDelivered = true
        }
        if isDelivered { feedback.accepted += 1 } else { feedback.foreign += 1 }
        (isDelivered ? metrics?.acceptedFeedback : metrics?.foreignFeedback)?.increment()
    }

    /// Bytes of an RTCP datagram that are read; longer ones are no report of a router.
    static let maximumFeedbackByteCount = 1500
}

/// What came back from routers.
public struct FeedbackCounters: Sendable, Equatable {
    /// RTCP packets that a leg took.
    public var accepted = 0
    /// About no SSRC of ours, or not from where its media goes.
    public var foreign = 0
    /// Datagrams that could not be read as RTCP.
    public var malformed = 0
}

// MARK: - Pacing

extension RouterSocket: DatagramOutput {
    func sendRun(
        _ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>, segmentSize: Int, to destination: SocketAddress
    ) -> RunOutcome {
        unsafe socket.sendRun(pieces, segmentSize: segmentSize, to: destination)
    }

    func pace(_ queue: SendQueue) {
        guard !paced.contains(where: { $0 === queue }) else { return }
        paced.append(queue)
        guard pacer == nil else { return }
        pacer = loop.schedule(after: .milliseconds(1), repeating: .milliseconds(1)) { [unowned self] in drainPaced() }
    }

    func awaitWritable(_ queue: SendQueue) {
        if !blocked.contains(where: { $0 === queue }) { blocked.append(queue) }
        socket.awaitWritable()
    }

    private func drainPaced() {
        for queue in paced { queue.drain(at: loop.now) }
        paced.removeAll { !$0.isPacing }
        guard paced.isEmpty else { return }
        pacer?.cancel()
        pacer = nil
    }

    private func writableAgain() {
        let queues = blocked
        blocked = []
        for queue in queues { queue.writableAgain(at: loop.now) }
    }
}

extension RTCPPacket {
    /// Calls `body` with each of our SSRCs that a receiver's packet is about. Of PAUSE once: whose it is reads all its entries.
    func forEachMediaSSRC(_ body: (UInt32) -> Void) {
        switch self {
        case .receiverReport(let report): for block in report.reports { body(block.ssrc) }
        case .senderReport(let report): for block in report.reports { body(block.ssrc) }
        case .nack(let nack): body(nack.mediaSSRC)
        case .pictureLoss(let indication): body(indication.mediaSSRC)
        case .fullIntraRequest(let request): for entry in request.entries { body(entry.ssrc) }
        case .pause(let requests): for ssrc in Set(requests.entries.map(\.ssrc)) { body(ssrc) }
        case .bitrateLimit(let limit): for ssrc in limit.ssrcs { body(ssrc) }
        case .sourceDescription, .goodbye, .extendedReport, .transportWide, .other: break
        }
    }
}
