import GatewayMetrics
import RTCP
import RTP
import StageHub
import Wire

/// What we tell the publisher (RFC 4585, docs/design.md 5.6), and what its reports tell us.
extension MediaReceiver {
    /// Sender reports feed the timeline and our report blocks. Feedback about us does not exist: we send no media.
    func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime) {
        guard let packets = try? RTCPCompound.parse(compound.bytes) else { return }
        for case .senderReport(let report) in packets {
            guard let index = books.index(of: report.ssrc), case .media = books.sources[index].role else { continue }
            books.sources[index].statistics.senderReported(report, at: now)
            guard books.sources[index].timestamps.last != nil else { continue }
            let timestamp = books.sources[index].timestamps.extend(report.rtpTimestamp)
            let track = books.sources[index].track
            guard track.kind == .audio || track.layer == books.selector.current else { continue }
            let isVideo = track.kind == .video
            publication?.timeline.publisherReported(
                ntp: report.ntp, timestamp: isVideo ? timestamp &+ books.selector.timestampOffset : timestamp,
                of: isVideo ? .video : .audio)
        }
    }

    /// The datagrams that are due now: requests for lost packets at once, transport feedback every 50 to 100 ms, reports each
    /// second.
    ///
    /// Where reduced-size RTCP was agreed (RFC 5506) requests for lost packets go alone: ffmpeg reads no others. A report stands
    /// before everything else (RFC 3550 §6.1).
    func feedback(at now: MonotonicTime) -> [[UInt8]] {
        var (datagrams, parts) = lossRequests(at: now)
        if books.transportID != nil, let media = books.sources.first,
            let feedback = books.transport.feedback(at: now, senderSSRC: ssrc, mediaSSRC: media.ssrc)
        {
            feedback.write(into: &parts)
        }
        if books.selector.wantsChange(at: now) { books.keyframes.want() }
        if canRequestKeyframe, let media = video(layer: books.selector.target(at: now)), books.keyframes.isDue(at: now) {
            PictureLossIndication(senderSSRC: ssrc, mediaSSRC: books.sources[media].ssrc).write(into: &parts)
            metrics.keyframeRequests.increment()
        }
        let isReportDue = now - lastReport >= Self.reportPeriod
        guard isReportDue || parts.count > 0 else { return datagrams }
        if isReportDue { noteSilence(at: now) }
        datagrams.append(compound(parts.bytes, isReportDue: isReportDue, at: now))
        return datagrams
    }

    private func compound(_ parts: [UInt8], isReportDue: Bool, at now: MonotonicTime) -> [UInt8] {
        var writer = ByteWriter(reserving: 256 + parts.count)
        var blocks: [ReportBlock] = []
        if isReportDue {
            lastReport = now
            for index in books.sources.indices where books.sources[index].statistics.received > 0 {
                blocks.append(books.sources[index].statistics.report(of: books.sources[index].ssrc, at: now))
                // Retransmissions tell how long the way is; before any, the handshake did.
                if let roundTrip = books.sources[index].losses.roundTrip {
                    publication?.counters.measured(roundTrip: roundTrip)
                }
            }
        }
        ReceiverReport(ssrc: ssrc, reports: blocks).write(into: &writer)
        if isReportDue {
            SourceDescription(chunks: [.init(ssrc: ssrc, cname: "stagedoor")]).write(into: &writer)
            if offer.video.hasFeedback("goog-remb"), let media = video(layer: books.selector.current) {
                ReceiverEstimatedMaximumBitrate(
                    senderSSRC: ssrc, bitsPerSecond: UInt64(bitrateLimit), ssrcs: [books.sources[media].ssrc]
                ).write(into: &writer)
            }
        }
        writer.write(contentsOf: parts)
        return writer.bytes
    }

    /// NACK for the forwarded layer and audio, never for a layer that does not answer: whole datagrams, and parts of a compound.
    private func lossRequests(at now: MonotonicTime) -> (alone: [[UInt8]], parts: ByteWriter) {
        var (alone, parts) = ([[UInt8]](), ByteWriter())
        for index in books.sources.indices where books.sources[index].role == .media {
            let isVideo = books.sources[index].track.kind == .video
            let goesOn = !isVideo || books.sources[index].track.layer == books.selector.current
            var numbers: [UInt16] = []
            let section = isVideo ? offer.video : offer.audio
            if goesOn, section?.hasFeedback("nack") == true {
                books.sources[index].losses.due(at: now, into: &numbers)
            } else {
                // Nobody is asked (Opus of most encoders, layers that rest): what was only reordered still comes.
                books.sources[index].losses.expire(at: now)
            }
            if countLost(of: index) > 0, isVideo, goesOn { books.keyframes.want() }
            guard !numbers.isEmpty, books.sources[index].isAnswering else { continue }
            books.sources[index].unansweredRequests += numbers.count
            metrics.nacks.increment(by: numbers.count)
            let request = GenericNACK(senderSSRC: ssrc, mediaSSRC: books.sources[index].ssrc, sequenceNumbers: numbers)
            guard section?.hasReducedSizeRTCP == true else {
                request.write(into: &parts)
                continue
            }
            var datagram = ByteWriter(reserving: 64)
            request.write(into: &datagram)
            alone.append(datagram.bytes)
        }
        return (alone, parts)
    }

    /// Counts what a source has lost since it was last asked.
    private func countLost(of index: Int) -> Int {
        let lost = books.sources[index].losses.takeLost()
        if lost > 0 { publication?.counters.lost.add(lost) }
        return lost
    }

    /// The publish is over: what is still missing has never come.
    func conclude() {
        for index in books.sources.indices where books.sources[index].role == .media {
            books.sources[index].losses.giveUp()
            _ = countLost(of: index)
        }
    }

    /// The media source of a layer, once something came from it.
    private func video(layer: UInt8?) -> Int? {
        books.sources.indices.last {
            books.sources[$0].track.kind == .video && books.sources[$0].role == .media && books.sources[$0].lastArrival != .zero
                && books.sources[$0].track.layer == layer
        }
    }

    /// A track that falls silent while the session lives is muted, not ended.
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
