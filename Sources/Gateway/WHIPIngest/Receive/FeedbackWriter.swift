import GatewayMetrics
import RTCP
import StageHub
import Wire

/// What we tell a publisher (RFC 4585, docs/design.md 5.6): which packets are missing, when they came, which keyframes are
/// wanted, and each second a report.
///
/// What there is to tell lies in its `PacketReception`; here is how it is said, and when it was. It calls nobody.
struct FeedbackWriter {
    /// What is asked for now.
    struct Requests {
        /// Whole datagrams.
        fileprivate(set) var alone: [[UInt8]] = []
        /// What stands in a compound, behind its report.
        fileprivate(set) var parts = ByteWriter()
    }

    private let metrics: WHIPMetrics
    private let ssrc = UInt32.random(in: 1...UInt32.max)
    private let maximumBitrate: Int
    private var bitrateLimit: Int
    private var lastReport: MonotonicTime = .zero

    init(maximumBitrate: Int, metrics: WHIPMetrics) {
        (self.maximumBitrate, bitrateLimit, self.metrics) = (maximumBitrate, maximumBitrate, metrics)
    }

    /// - Parameter bitsPerSecond: nil for no other limit than the session's.
    mutating func limitBitrate(_ bitsPerSecond: Int?) { bitrateLimit = min(maximumBitrate, bitsPerSecond ?? maximumBitrate) }

    // MARK: - Requests

    /// Requests for lost packets at once, transport feedback every 50 to 100 ms, requests for keyframes.
    ///
    /// Where reduced-size RTCP was agreed (RFC 5506) requests for lost packets go alone: ffmpeg reads no others.
    /// - Parameter counters: of the publish, while there is one.
    func requests(
        about reception: inout PacketReception, _ counters: PublishCounters?, at now: MonotonicTime
    ) -> Requests {
        var requests = Requests()
        for index in reception.sources.indices where reception.sources[index].role == .media {
            requestLost(of: index, in: &reception, counters, at: now, into: &requests)
        }
        if reception.transportID != nil, let media = reception.sources.first,
            let feedback = reception.transport.feedback(at: now, senderSSRC: ssrc, mediaSSRC: media.ssrc)
        {
            feedback.write(into: &requests.parts)
        }
        requestKeyframes(of: &reception, at: now, into: &requests)
        return requests
    }

    /// NACK for a source, unless it does not answer.
    private func requestLost(
        of index: Int, in reception: inout PacketReception, _ counters: PublishCounters?, at now: MonotonicTime,
        into requests: inout Requests
    ) {
        let track = reception.sources[index].track
        let section = track.kind == .video ? reception.offer.video : reception.offer.audio
        var numbers: [UInt16] = []
        if section?.hasFeedback("nack") == true {
            reception.sources[index].losses.due(at: now, knowing: counters?.roundTrip, into: &numbers)
        } else {
            // Nobody is asked (Opus of most encoders): what was only reordered still comes.
            reception.sources[index].losses.expire(at: now)
        }
        let lost = reception.sources[index].losses.takeLost()
        if lost > 0 {
            counters?.lost.add(lost)
            if track.kind == .video { reception.wantKeyframe(of: track) }
        }
        guard !numbers.isEmpty, reception.sources[index].isAnswering else { return }
        reception.sources[index].unansweredRequests += 1
        metrics.nacks.increment(by: numbers.count)
        let request = GenericNACK(senderSSRC: ssrc, mediaSSRC: reception.sources[index].ssrc, sequenceNumbers: numbers)
        guard section?.hasReducedSizeRTCP == true else { return request.write(into: &requests.parts) }
        var datagram = ByteWriter(reserving: 64)
        request.write(into: &datagram)
        requests.alone.append(datagram.bytes)
    }

    private func requestKeyframes(of reception: inout PacketReception, at now: MonotonicTime, into requests: inout Requests) {
        guard reception.hasKeyframeRequests else { return }
        for layer in reception.layers.indices {
            guard let media = reception.mediaSource(ofLayer: layer), reception.layers[layer].keyframes.isDue(at: now) else {
                continue
            }
            PictureLossIndication(senderSSRC: ssrc, mediaSSRC: reception.sources[media].ssrc).write(into: &requests.parts)
            metrics.keyframeRequests.increment()
        }
    }

    // MARK: - Reports

    func isReportDue(at now: MonotonicTime) -> Bool { now - lastReport >= Self.reportPeriod }

    /// A compound: its report, empty in between, stands before everything else (RFC 3550 §6.1).
    mutating func compound(
        _ parts: [UInt8], isReportDue: Bool, about reception: inout PacketReception, _ counters: PublishCounters?,
        at now: MonotonicTime
    ) -> [UInt8] {
        var writer = ByteWriter(reserving: 256 + parts.count)
        let blocks = isReportDue ? reports(of: &reception, counters, at: now) : []
        ReceiverReport(ssrc: ssrc, reports: blocks).write(into: &writer)
        if isReportDue {
            lastReport = now
            SourceDescription(chunks: [.init(ssrc: ssrc, cname: "stagedoor")]).write(into: &writer)
            writeMaximumBitrate(of: reception, into: &writer)
        }
        writer.write(contentsOf: parts)
        return writer.bytes
    }

    private func reports(
        of reception: inout PacketReception, _ counters: PublishCounters?, at now: MonotonicTime
    ) -> [ReportBlock] {
        var blocks: [ReportBlock] = []
        for index in reception.sources.indices where reception.sources[index].statistics.received > 0 {
            blocks.append(reception.sources[index].statistics.report(of: reception.sources[index].ssrc, at: now))
            // Retransmissions tell how long the way is; before any, the handshake did.
            if let roundTrip = reception.sources[index].losses.roundTrip { counters?.measured(roundTrip: roundTrip) }
        }
        return blocks
    }

    private func writeMaximumBitrate(of reception: PacketReception, into writer: inout ByteWriter) {
        let media = reception.layers.indices.compactMap { reception.mediaSource(ofLayer: $0) }
        guard reception.offer.video.hasFeedback("goog-remb"), !media.isEmpty else { return }
        ReceiverEstimatedMaximumBitrate(
            senderSSRC: ssrc, bitsPerSecond: UInt64(bitrateLimit), ssrcs: media.map { reception.sources[$0].ssrc }
        ).write(into: &writer)
    }

    private static let reportPeriod: Duration = .seconds(1)
}
