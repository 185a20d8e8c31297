import GatewayMetrics
import RTCP
import RTP
import StageHub
import Wire

/// What we tell the publisher (RFC 4585, design note 18), and what its reports tell us.
extension MediaReceiver {
    /// Sender reports feed the timeline and our report blocks. Feedback about us does not exist: we send no media.
    func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime) {
        guard let packets = try? RTCPCompound.parse(compound.bytes) else { return }
        for case .senderReport(let report) in packets {
            guard let index = index(of: report.ssrc), case .media = sources[index].role else { continue }
            sources[index].statistics.senderReported(report, at: now)
            guard sources[index].timestamps.last != nil else { continue }
            let timestamp = sources[index].timestamps.extend(report.rtpTimestamp)
            let track = sources[index].track
            guard track.kind == .audio || track.layer == selector.current else { continue }
            let isVideo = track.kind == .video
            publication?.timeline.publisherReported(
                ntp: report.ntp, timestamp: isVideo ? timestamp &+ selector.timestampOffset : timestamp,
                of: isVideo ? .video : .audio)
        }
    }

    /// The compound that is due now: requests for lost packets at once, transport feedback every 50 to 100 ms, reports each second.
    func feedback(at now: MonotonicTime) -> [UInt8] {
        var parts = ByteWriter()
        requestLostPackets(at: now, into: &parts)
        if transportID != nil, let media = sources.first,
            let feedback = transport.feedback(at: now, senderSSRC: ssrc, mediaSSRC: media.ssrc)
        {
            feedback.write(into: &parts)
        }
        if selector.wantsChange(at: now) { keyframes.want() }
        if canRequestKeyframe, let media = video(layer: selector.target(at: now)), keyframes.isDue(at: now) {
            PictureLossIndication(senderSSRC: ssrc, mediaSSRC: sources[media].ssrc).write(into: &parts)
            metrics.keyframeRequests.increment()
        }
        let isReportDue = now - lastReport >= Self.reportPeriod
        guard isReportDue || parts.count > 0 else { return [] }
        if isReportDue { noteSilence(at: now) }
        return compound(parts.bytes, isReportDue: isReportDue, at: now)
    }

    private func compound(_ parts: [UInt8], isReportDue: Bool, at now: MonotonicTime) -> [UInt8] {
        var writer = ByteWriter(reserving: 256 + parts.count)
        var blocks: [ReportBlock] = []
        if isReportDue {
            lastReport = now
            for index in sources.indices where sources[index].statistics.received > 0 {
                blocks.append(sources[index].statistics.report(of: sources[index].ssrc, at: now))
                // Retransmissions tell how long the way is; before any, the handshake did.
                if sources[index].losses.recovered > 0 {
                    publication?.counters.measured(roundTrip: sources[index].losses.roundTrip)
                }
            }
        }
        ReceiverReport(ssrc: ssrc, reports: blocks).write(into: &writer)
        if isReportDue {
            SourceDescription(chunks: [.init(ssrc: ssrc, cname: "stagedoor")]).write(into: &writer)
            if offer.video.hasFeedback("goog-remb"), let media = video(layer: selector.current) {
                ReceiverEstimatedMaximumBitrate(
                    senderSSRC: ssrc, bitsPerSecond: UInt64(bitrateLimit), ssrcs: [sources[media].ssrc]
                ).write(into: &writer)
            }
        }
        writer.write(contentsOf: parts)
        return writer.bytes
    }

    /// NACK for the forwarded layer and audio, never for a layer that does not answer.
    private func requestLostPackets(at now: MonotonicTime, into writer: inout ByteWriter) {
        for index in sources.indices where sources[index].losses.missingCount > 0 {
            let isVideo = sources[index].track.kind == .video
            guard sources[index].role == .media, !isVideo || sources[index].track.layer == selector.current else {
                sources[index].losses.forget()
                continue
            }
            var numbers: [UInt16] = []
            if (isVideo ? offer.video : offer.audio)?.hasFeedback("nack") == true {
                sources[index].losses.due(at: now, into: &numbers)
            } else {
                // Nobody can be asked (Opus of most encoders): what was only reordered still comes.
                sources[index].losses.expire(at: now)
            }
            let givenUp = sources[index].losses.takeGivenUp()
            if givenUp > 0 {
                publication?.counters.lost.add(givenUp)
                if isVideo { keyframes.want() }
            }
            guard !numbers.isEmpty, sources[index].isAnswering else { continue }
            sources[index].unansweredRequests += numbers.count
            metrics.nacks.increment(by: numbers.count)
            GenericNACK(senderSSRC: ssrc, mediaSSRC: sources[index].ssrc, sequenceNumbers: numbers).write(into: &writer)
        }
    }

    /// The media source of a layer, once something came from it.
    private func video(layer: UInt8?) -> Int? {
        sources.indices.last {
            sources[$0].track.kind == .video && sources[$0].role == .media && sources[$0].lastArrival != .zero
                && sources[$0].track.layer == layer
        }
    }

    /// A track that falls silent while the session lives is muted, not ended (ledger E24).
    private func noteSilence(at now: MonotonicTime) {
        for (slot, track) in [TrackID.video, .audio].enumerated()
        where !isMuted[slot] && lastForwarded[slot] != .zero && now - lastForwarded[slot] >= Self.muteSilence {
            isMuted[slot] = true
            for sink in publication?.sinks ?? [] { sink.muteChanged(track, isMuted: true) }
        }
    }

    private static let reportPeriod: Duration = .seconds(1)
    private static let muteSilence: Duration = .seconds(2)
}
