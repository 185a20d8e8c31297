import H264
import MediaContract
import RTP
import SDP
import StageHub
import Wire

/// What is known of one publisher's packets: whose they are, what is missing, which layer goes on, where keyframes begin.
///
/// It calls nobody: a packet is booked in one access, and what others must be told of it stands in its `Booking`.
struct PacketBooks {
    let offer: AcceptedOffer
    /// At most a dozen: the one of a packet is found sooner by looking than by hashing.
    var sources: [RTPSource] = []
    var selector: LayerSelector
    var keyframes = KeyframeRequests()
    var transport = TransportArrivals()
    /// The header extension of transport-wide numbers; nil when the offer has none.
    let transportID: UInt8?
    private(set) var hasRTP = false
    /// Asked for with every batch, `takeNews` a few times in a session.
    private(set) var hasNews = false
    private var news = PacketNews()
    private var parameterSets = ParameterSetKeeper()
    private var gate = PublishGate(needsAudio: false)
    private var hasIDR = false
    private var keyframeTimestamp: Int64?
    private let isSimulcast: Bool
    /// The NAL units of the video packet that was booked last, for all who look into it.
    private(set) var found = NALUnitList()
    private var video = TrackFeed()
    private var audio = TrackFeed()

    init(offer: AcceptedOffer) {
        self.offer = offer
        selector = LayerSelector(layerCount: max(1, offer.video.rids.count))
        isSimulcast = offer.video.rids.count > 1
        transportID =
            offer.video.identifier(of: HeaderExtensionMap.transportWideCC)
            ?? offer.audio?.identifier(of: HeaderExtensionMap.transportWideCC)
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

    /// Books a plain RTP packet.
    /// - Returns: nil for what is malformed, of nobody, a duplicate, or a probe of the bandwidth.
    mutating func book(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) -> Booking? {
        guard let header = try? RTPHeader(parsing: packet.bytes) else { return nil }
        if !hasRTP {
            hasRTP = true
            tell(.firstRTP)
        }
        if let transportID, let extensions = header.extensions, let range = extensions.range(of: transportID, in: packet.bytes),
            range.count == 2
        {
            transport.received(UInt16(packet[range.lowerBound]) << 8 | UInt16(packet[range.lowerBound + 1]), at: now)
        }
        guard let index = index(of: header.ssrc) ?? place(header, packet) else { return nil }
        if sources[index].heard(at: now) {
            news.sources.append(header.ssrc)
            hasNews = true
        }
        let payload = UnsafeRawBufferPointer(rebasing: packet[header.payload(inPacketOf: packet.count)])
        guard case .retransmission(let media) = sources[index].role else {
            return book(payload, of: index, header.sequenceNumber, header, isRetransmission: false, at: now)
        }
        // RTX carries the original sequence number before the payload (RFC 4588 §4); less than that is padding.
        guard payload.count > 2 else { return nil }
        return book(
            UnsafeRawBufferPointer(rebasing: payload[2...]), of: media, UInt16(payload[0]) << 8 | UInt16(payload[1]), header,
            isRetransmission: true, at: now)
    }

    private mutating func book(
        _ payload: UnsafeRawBufferPointer, of index: Int, _ number: UInt16, _ header: RTPHeader, isRetransmission: Bool,
        at now: MonotonicTime
    ) -> Booking? {
        let track = sources[index].track
        guard let entry = sources[index].take(number, header.timestamp, isRetransmission: isRetransmission, at: now) else {
            return nil
        }
        let packet = MediaPacket(
            sequenceNumber: entry.sequenceNumber, timestamp: entry.timestamp, marker: header.marker, payload: payload)
        var booking = Booking(packet: packet, track: track, arrival: entry.arrival)
        guard !booking.isTooLate, !payload.isEmpty else { return booking }
        if track.kind == .video {
            admitVideo(&booking, from: index, at: now)
        } else if audio.takes(from: index, &booking) {
            audio.goesOn(&booking)
        }
        return booking
    }

    private mutating func admitVideo(_ booking: inout Booking, from index: Int, at now: MonotonicTime) {
        guard isSimulcast || video.takes(from: index, &booking) else { return }
        found.find(inPayload: booking.packet.payload)
        if found.isMalformed {
            booking.isMalformed = true
            guard !found.isUnreadable else { return }
            booking.packet.payload = UnsafeRawBufferPointer(rebasing: booking.packet.payload[..<found.endOffset])
        }
        let inspection = PayloadInspection(found)
        if let set = inspection.sequenceSet { noteSize(of: index, by: set, in: &booking) }
        if isSimulcast {
            let pixelCount = sources[index].pixelCount
            guard
                selector.admits(
                    &booking.packet, layer: booking.track.layer, startsKeyframe: inspection.startsKeyframe,
                    pixelCount: pixelCount, at: now)
            else { return }
        }
        noteKeyframe(inspection, in: &booking, at: now)
        booking.mayStartPublish = !gate.isOpen
        video.goesOn(&booking)
    }

    private mutating func noteSize(of index: Int, by set: UnsafeRawBufferPointer, in booking: inout Booking) {
        booking.pictureSize = PictureSize(ofSequenceSet: set)
        sources[index].pixelCount = booking.pictureSize.map { $0.width * $0.height } ?? 0
    }

    /// Finds the first packet of an IDR access unit; keeps its parameter sets.
    private mutating func noteKeyframe(_ inspection: PayloadInspection, in booking: inout Booking, at now: MonotonicTime) {
        if inspection.hasParameterSet { booking.hasNewFormat = parameterSets.note(inspection) }
        if inspection.hasIDR {
            keyframes.keyframeCame(at: now)
            booking.hasIDR = true
        }
        guard inspection.startsKeyframe, keyframeTimestamp != booking.packet.timestamp else { return }
        keyframeTimestamp = booking.packet.timestamp
        booking.startsKeyframe = true
    }

    /// The format that the latest parameter sets describe; nil while one of them is missing.
    var videoFormat: TrackFormat? { parameterSets.format }

    // MARK: - Milestones

    /// An IDR reached a publication.
    mutating func sawIDR() {
        guard !hasIDR else { return }
        hasIDR = true
        tell(.firstIDR)
    }

    /// A packet of video goes on, and the contract has nothing against it. Asked for until the publish has really started.
    mutating func forwardedVideo(_ booking: Booking) {
        guard
            gate.videoForwarded(
                isDecodableIDR: booking.startsKeyframe && parameterSets.isComplete, mediaTime: booking.packet.timestamp)
        else { return }
        (news.hasStarted, hasNews) = (true, true)
    }
}
