import DTLS
import EventLoop
import RTCP
import SRTP
import Wire

/// One WHIP publisher: POST, connection, a clip's packets again and again in real time, feedback, DELETE.
final class WHIPPublisher {
    /// What a publisher is, beside its token and its clip.
    struct Manner {
        /// What the offer says of the video.
        var profileLevelID = "42e01f"
        var layerCount = 1
        var faults: Set<SimulcastFault> = []
        var rests: [LayerRest] = []
        /// The share of video packets that are held back until the server asks for them.
        var loss = 0.0
    }

    private(set) var senderReports = 0
    private(set) var senders: MediaSenders
    /// From the POST to its 201, and to the end of the DTLS handshake.
    private(set) var answeredAfter: Duration?
    private(set) var connectedAfter: Duration?
    private(set) var isEndedByServer = false
    /// From the first packet to the server's goodbye.
    private(set) var endedAfter: Duration?
    /// All media has been sent.
    private(set) var isDone = false
    /// That, or the server ended the connection.
    var onEnd: (() -> Void)?
    private(set) var isDeleted: Bool?
    private(set) var deletionFault: String?

    private let loop: EventLoop
    private let endpoint: WHIPEndpointClient
    private let token: String
    private let offer: WHIPOffer
    private let context: DTLSContext
    private var resource: WHIPEndpointClient.Resource?
    private var connection: WHIPConnection?
    private var path: ProtectedPath?
    private var rests: LayerRests
    private var postedAt = MonotonicTime.zero
    private var startedAt = MonotonicTime.zero
    /// Nanoseconds since then.
    private var limit = Int64.max
    private let loss: Double
    /// Losses by now, less those that were: every run loses the same packets.
    private var owedLoss = 0.0
    private var next = 0
    private var repetition = 0
    private var timers: [Watch] = []
    private var pace: Watch?

    /// Of sender reports: often enough that a receiver has one within a second.
    private static let reportInterval = Duration.seconds(1)

    init(loop: EventLoop, endpoint: WHIPEndpointClient, token: String, context: DTLSContext, _ manner: Manner) {
        (self.loop, self.endpoint, self.token, self.context) = (loop, endpoint, token, context)
        offer = WHIPOffer(
            certificate: context.certificate, profileLevelID: manner.profileLevelID, layerCount: manner.layerCount)
        senders = MediaSenders(offer, faults: manner.faults)
        (rests, loss) = (LayerRests(manner.rests), manner.loss)
    }

    // MARK: - Set-up

    /// Offers, checks and shakes hands; `done` is called once, with what went wrong if anything did.
    func connect(within limit: Duration, done: @escaping (String?) -> Void) {
        let start = EventLoop.monotonicNow()
        postedAt = start
        var isDone = false
        func finish(_ fault: String?) {
            guard !isDone else { return }
            isDone = true
            timers.removeAll()
            done(fault)
        }
        timers = [loop.schedule(after: limit) { finish("no connection in time") }]
        endpoint.post(offer.text, token: token) { [self] result in
            do {
                let resource = try result.get()
                answeredAfter = EventLoop.monotonicNow() - start
                self.resource = resource
                connection = try open(resource, start, finish)
                path = connection?.path
            } catch { finish("\(error)") }
        }
    }

    private func open(
        _ resource: WHIPEndpointClient.Resource, _ start: MonotonicTime, _ finish: @escaping (String?) -> Void
    ) throws -> WHIPConnection {
        let connection = try WHIPConnection(loop: loop, server: resource.server, offer: offer, context: context)
        connection.onConnected = { [unowned self] in
            connectedAfter = EventLoop.monotonicNow() - start
            finish(nil)
        }
        connection.onClosed = { [unowned self] in
            isEndedByServer = true
            if startedAt != .zero { endedAfter = EventLoop.monotonicNow() - startedAt }
            onEnd?()
            finish("the server closed the connection")
        }
        unsafe connection.onMedia = { [unowned self] in unsafe takeControl($0) }
        return connection
    }

    /// Begins at once, with agreed keys, toward `stagedoor-bench relay`.
    func connect(bare remote: SocketAddress, _ profile: SRTPProfile) throws {
        let bare = try ProtectedPath(loop: loop, isV4: remote.ip.isV4)
        bare.remote = remote
        bare.protect(by: .agreed(profile), .agreed(profile))
        path = bare
        (answeredAfter, connectedAfter) = (.zero, .zero)
    }

    // MARK: - Media

    /// - Parameters:
    ///   - delay: until it begins.
    ///   - time: from now on; media of this time is sent whole, also by a machine that is late.
    func publish(_ clip: RTPClip, delay: Duration, for time: Duration) {
        (startedAt, limit) = (loop.now + delay, (time - delay).nanoseconds)
        pace = loop.schedule(after: delay) { [unowned self] in step(clip) }
        timers = [
            loop.schedule(after: delay, repeating: Self.reportInterval) { [unowned self] in sendReports() }
        ]
    }

    /// Sends every packet that is due, and sleeps until the next one is.
    private func step(_ clip: RTPClip) {
        guard !isEndedByServer else { return }
        let elapsed = (EventLoop.monotonicNow() - startedAt).nanoseconds
        while true {
            let packet = clip.packets[next]
            let due = packet.due + Int64(repetition * clip.duration) * 1_000_000
            if due >= limit { return finish() }
            if due > elapsed {
                pace = loop.schedule(after: .nanoseconds(due - elapsed)) { [unowned self] in step(clip) }
                return
            }
            let seconds = Double(packet.due) / 1e9 + Double(repetition * clip.duration) / 1_000
            if packet.track == .audio || !rests.hold(packet.layer, startsKeyframe: packet.startsKeyframe, at: seconds) {
                send(packet, offset: repetition * clip.duration, mark: EventLoop.monotonicNow())
            }
            next += 1
            if next == clip.packets.count { (next, repetition) = (0, repetition + 1) }
        }
    }

    private func finish() {
        isDone = true
        onEnd?()
    }

    /// Sends the clip's first access unit and no more, marked with the time of the POST.
    func open(_ clip: RTPClip) {
        for packet in clip.packets where packet.track == .video && packet.layer == 0 {
            send(packet, offset: 0, mark: postedAt)
            if packet.isLast { return }
        }
    }

    /// - Parameter mark: the time to write where the packet has room for one.
    private func send(_ packet: RTPClip.Packet, offset: Int, mark: MonotonicTime) {
        var payload = packet.payload
        if let markOffset = packet.markOffset { LatencyMark.write(mark.nanoseconds, into: &payload, at: markOffset) }
        path?.protecting { protection throws(SRTPError) in
            let bytes = try senders.protect(packet, payload, offset: offset, by: &protection)
            return isLost(packet) ? nil : bytes
        }
    }

    /// A frame's last packet always arrives: it shows what is missing before it. So does the first keyframe, where streams begin.
    private func isLost(_ packet: RTPClip.Packet) -> Bool {
        guard loss > 0, packet.track == .video, !packet.isLast, repetition > 0 || packet.due > 1_000_000_000 else { return false }
        owedLoss += loss
        guard owedLoss >= 1 else { return false }
        owedLoss -= 1
        return true
    }

    private func sendReports() {
        let elapsed = EventLoop.monotonicNow() - startedAt
        for sender in senders.reporting {
            var writer = ByteWriter()
            sender.report(at: EventLoop.wallNow(), elapsed: elapsed).write(into: &writer)
            SourceDescription(chunks: [.init(ssrc: sender.ssrc, cname: offer.cname)]).write(into: &writer)
            let plain = writer.bytes
            path?.protecting { protection throws(SRTPError) in
                var bytes = plain + [UInt8](repeating: 0, count: SRTPOutbound.trailerByteCount)
                let count = try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(SRTPError) in
                    try unsafe protection.protectControl(UnsafeMutableRawBufferPointer(buffer), count: plain.count)
                }
                senderReports += 1
                return Array(bytes[..<count])
            }
        }
    }

    private func takeControl(_ packet: UnsafeMutableRawBufferPointer) {
        guard let count = unsafe path?.unprotectControl(packet) else { return }
        let plain = unsafe Array(packet[..<count])
        for packet in unsafe (try? RTCPCompound.parse(plain.span.bytes)) ?? [] {
            switch packet {
            case .nack(let nack): for answer in senders.answers(to: nack) { path?.send(answer) }
            case .pictureLoss(let request): senders.keyframeWasAsked(of: request.mediaSSRC)
            case .fullIntraRequest(let request): for entry in request.entries { senders.keyframeWasAsked(of: entry.ssrc) }
            default: break
            }
        }
    }

    /// Goes on from another port.
    func rebind() { try? connection?.rebind() }

    // MARK: - End

    func stop() {
        pace = nil
        timers.removeAll()
    }

    /// Asks the server to end the session, as encoders do when their user stops.
    func delete() {
        guard let resource, !isEndedByServer else { return isDeleted = false }
        endpoint.delete(resource, token: token) { [self] result in
            if case .failure(let fault) = result { deletionFault = "DELETE: \(fault)" }
            isDeleted = deletionFault == nil
            connection?.close()
        }
    }
}
