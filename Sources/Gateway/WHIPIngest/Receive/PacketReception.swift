import H264
import MediaContract
import RTP
import SDP
import StageHub
import Wire

/// What is known of one publisher's packets: whose they are, what is missing, where keyframes begin.
///
/// It calls nobody: receiving a packet is one access to it, and what others have to know stands in the `ReceivedPacket`.
struct PacketReception {
    let offer: AcceptedOffer
    /// At most a dozen: to look through them finds the source of a packet sooner than to hash.
    var sources: [RTPSource] = []
    /// By place, in the order of the offer's rids; one without simulcast.
    var layers: [LayerReception]
    var transport = TransportArrivals()
    /// The header extension of transport-wide numbers; nil when the offer has none.
    let transportID: UInt8?
    /// Requests for keyframes were agreed.
    let hasKeyframeRequests: Bool
    private(set) var hasRTP = false
    /// Whether `takeNews` has any. Asked with every batch, while `takeNews` is called a few times in a session.
    private(set) var hasNews = false
    private var news = PacketNews()
    private var gate = PublishGate(needsBothTracks: false)
    private var hasIDR = false
    /// The NAL units of the video packet that was received last, for all who look into it.
    private(set) var found = NALUnitList()
    private var audio = TrackFeed()

    init(offer: AcceptedOffer) {
        self.offer = offer
        layers = Array(repeating: LayerReception(), count: max(1, offer.video.rids.count))
        transportID =
            offer.video.identifier(of: HeaderExtensionMap.transportWideCC)
            ?? offer.audio?.identifier(of: HeaderExtensionMap.transportWideCC)
        hasKeyframeRequests = offer.video.hasFeedback("nack pli")
        announceSources()
    }

    mutating func takeNews() -> PacketNews {
        defer { (news, hasNews) = (PacketNews(), false) }
        return news
    }

    private mutating func tell(_ step: SessionStory.Step) {
        news.steps.append(step)
        hasNews = true
    }

    /// Takes a plain RTP packet.
    /// - Returns: nil for what is malformed, of nobody, a duplicate, or a probe of the bandwidth.
    mutating func receive(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) -> ReceivedPacket? {
        guard let header = try? unsafe RTPHeader(parsing: packet.bytes) else { return nil }
        if !hasRTP {
            hasRTP = true
            tell(.firstRTP)
        }
        if let transportID, let extensions = header.extensions,
            let range = unsafe extensions.range(of: transportID, in: packet.bytes),
            range.count == 2
        {
            unsafe transport.received(UInt16(packet[range.lowerBound]) << 8 | UInt16(packet[range.lowerBound + 1]), at: now)
        }
        guard let index = unsafe index(of: header.ssrc) ?? place(header, packet) else { return nil }
        if sources[index].heard(at: now) {
            news.sources.append(header.ssrc)
            hasNews = true
        }
        let payload = unsafe UnsafeRawBufferPointer(rebasing: packet[header.payload(inPacketOf: packet.count)])
        switch sources[index].role {
        case .media: return unsafe take(payload, of: index, header.sequenceNumber, header, isRetransmission: false, at: now)
        case .retransmission(let media):
            // The original sequence number stands before the payload (RFC 4588 §4); less than that is padding.
            guard payload.count > 2 else { return nil }
            return unsafe take(
                UnsafeRawBufferPointer(rebasing: payload[2...]), of: media, UInt16(payload[0]) << 8 | UInt16(payload[1]),
                header, isRetransmission: true, at: now)
        }
    }

    /// Takes a payload of a media source, however it came.
    private mutating func take(
        _ payload: UnsafeRawBufferPointer, of index: Int, _ number: UInt16, _ header: RTPHeader, isRetransmission: Bool,
        at now: MonotonicTime
    ) -> ReceivedPacket? {
        guard let unwrapped = sources[index].take(number, header.timestamp, isRetransmission: isRetransmission, at: now)
        else { return nil }
        let packet = unsafe MediaPacket(
            sequenceNumber: unwrapped.sequenceNumber, timestamp: unwrapped.timestamp, marker: header.marker, payload: payload)
        var received = ReceivedPacket(packet: packet, track: sources[index].track, arrival: unwrapped.arrival)
        received.fate = fate(of: &received, from: index, at: now)
        return received
    }

    /// What becomes of a packet; what it brings is noted in it.
    private mutating func fate(
        of received: inout ReceivedPacket, from index: Int, at now: MonotonicTime
    ) -> ReceivedPacket.Fate {
        guard received.arrival != .tooLate, unsafe !received.packet.payload.isEmpty else { return .dropped }
        let (layer, isVideo) = (Int(received.track.layer), received.track.kind == .video)
        switch isVideo ? layers[layer].feed.heard(from: index) : audio.heard(from: index) {
        case .former: return .counted
        case .newer: received.replacesFeed = true
        case .current: break
        }
        if isVideo, !read(&received, from: index, at: now) { return .counted }
        let timestamp = received.packet.timestamp
        received.startsTimestamp = isVideo ? layers[layer].feed.forwarded(timestamp) : audio.forwarded(timestamp)
        received.mayStartPublish = !gate.isOpen
        return .forwarded
    }

    /// Looks into a packet of video, and cuts off what cannot be read.
    /// - Returns: false where that is all of it.
    private mutating func read(_ received: inout ReceivedPacket, from index: Int, at now: MonotonicTime) -> Bool {
        unsafe found.find(inPayload: received.packet.payload)
        if found.isMalformed {
            received.isMalformed = true
            guard !found.isUnreadable else { return false }
            unsafe received.packet.payload = unsafe UnsafeRawBufferPointer(rebasing: received.packet.payload[..<found.endOffset])
        }
        let inspection = PayloadInspection(found)
        let follows = inspection.hasIDR && !sources[index].losses.isMissing(received.packet.sequenceNumber - 1)
        received.picture = layers[Int(received.track.layer)].take(inspection, of: received, follows: follows, at: now)
        return true
    }

    /// Whether a source feeds its track, and no newer one does.
    func isFeeding(_ index: Int) -> Bool {
        let track = sources[index].track
        return (track.kind == .video ? layers[Int(track.layer)].feed : audio).source == index
    }

    /// What the offer calls a layer; empty without simulcast.
    func rid(of track: TrackID) -> String {
        let rids = offer.video.rids
        return rids.indices.contains(Int(track.layer)) ? rids[Int(track.layer)] : ""
    }

    // MARK: - Milestones

    /// An IDR reached a publication.
    mutating func sawIDR() {
        guard !hasIDR else { return }
        hasIDR = true
        tell(.firstIDR)
    }

    /// A packet is forwarded, and the contract has nothing against it. Asked for until the publish has really started.
    mutating func forwarded(_ received: ReceivedPacket) {
        guard let start = start(with: received) else { return }
        (news.hasStarted, hasNews) = (true, true)
        if start == .audioAlone { tell(.audioAlone) }
    }

    private mutating func start(with received: ReceivedPacket) -> PublishGate.Start? {
        let mediaTime = received.packet.timestamp
        guard received.track.kind == .video else { return gate.audioForwarded(mediaTime: mediaTime) }
        let layer = received.track.layer
        return gate.videoForwarded(
            isDecodableIDR: received.picture.startsKeyframe && layers[Int(layer)].isDecodable, layer: layer, mediaTime: mediaTime)
    }
}

/// When keyframes are asked for.
extension PacketReception {
    mutating func wantKeyframe(of track: TrackID) {
        guard layers.indices.contains(Int(track.layer)) else { return }
        layers[Int(track.layer)].keyframes.want()
    }

    mutating func wantKeyframes() {
        for index in layers.indices { layers[index].keyframes.want() }
    }

    /// Video is muted.
    mutating func pauseKeyframes() {
        for index in layers.indices { layers[index].keyframes.pause() }
    }

    /// Video goes on.
    mutating func resumeKeyframes(wantsKeyframe: Bool) {
        for index in layers.indices { layers[index].keyframes.resume(wantsKeyframe: wantsKeyframe) }
    }

    /// The index of a layer's media source, once something came from it.
    func mediaSource(ofLayer layer: Int) -> Int? {
        sources.indices.last {
            sources[$0].track == TrackID(.video, layer: UInt8(layer)) && sources[$0].role == .media
                && sources[$0].lastArrival != .zero
        }
    }
}

/// Which source is which track (RFC 8843 §9.2, RFC 8852): by the offer, else by payload type, and with simulcast RID.
extension PacketReception {
    /// The sources that the offer names.
    fileprivate mutating func announceSources() {
        if let ssrc = offer.video.ssrc, offer.video.rids.count <= 1 {
            let media = add(RTPSource(ssrc: ssrc, track: .video, role: .media))
            if let media, let retransmission = offer.video.retransmissionSSRC {
                _ = add(RTPSource(ssrc: retransmission, track: .video, role: .retransmission(of: media)))
            }
        }
        if let ssrc = offer.audio?.ssrc { _ = add(RTPSource(ssrc: ssrc, track: .audio, role: .media)) }
    }

    func index(of ssrc: UInt32) -> Int? { sources.firstIndex { $0.ssrc == ssrc } }

    /// The place of a source that the offer does not name; nil when nothing places it or there are too many.
    fileprivate mutating func place(_ header: RTPHeader, _ packet: UnsafeRawBufferPointer) -> Int? {
        switch header.payloadType {
        case offer.video.payloadType: unsafe placeVideo(header, packet)
        case offer.video.retransmissionPayloadType: unsafe placeRetransmission(header, packet)
        case offer.audio?.payloadType: add(RTPSource(ssrc: header.ssrc, track: .audio, role: .media))
        default: nil
        }
    }

    private mutating func placeVideo(_ header: RTPHeader, _ packet: UnsafeRawBufferPointer) -> Int? {
        guard offer.video.rids.count > 1 else { return add(RTPSource(ssrc: header.ssrc, track: .video, role: .media)) }
        guard let layer = unsafe layer(header, packet, HeaderExtensionMap.rtpStreamID) else { return nil }
        return add(RTPSource(ssrc: header.ssrc, track: TrackID(.video, layer: layer), role: .media))
    }

    private mutating func placeRetransmission(_ header: RTPHeader, _ packet: UnsafeRawBufferPointer) -> Int? {
        let layer =
            unsafe offer.video.rids.count > 1 ? layer(header, packet, HeaderExtensionMap.repairedRTPStreamID) : 0
        guard let layer,
            let media = sources.lastIndex(where: { $0.track == TrackID(.video, layer: layer) && $0.role == .media })
        else { return nil }
        return add(RTPSource(ssrc: header.ssrc, track: TrackID(.video, layer: layer), role: .retransmission(of: media)))
    }

    /// The layer whose rid the packet carries: its index in the offer's simulcast list.
    private func layer(_ header: RTPHeader, _ packet: UnsafeRawBufferPointer, _ uri: String) -> UInt8? {
        guard let id = offer.video.identifier(of: uri), let range = unsafe header.extensions?.range(of: id, in: packet.bytes),
            let index = offer.video.rids.firstIndex(where: { unsafe $0.utf8.elementsEqual(packet[range]) })
        else { return nil }
        return UInt8(index)
    }

    private mutating func add(_ source: RTPSource) -> Int? {
        guard sources.count < Self.maximumSources, index(of: source.ssrc) == nil else { return nil }
        sources.append(source)
        return sources.count - 1
    }

    /// Of one session, those that its offer names included (docs/design.md 5.6).
    private static let maximumSources = 12
}
