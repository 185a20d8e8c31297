import Admission
import EventLoop
import GatewayLogging
import Monitoring
import RTMP
import Refusals
import Settings
import StageHub

/// How it ends.
extension RTMPConnection {
    /// Turns the encoder away in words that its user will see, or ends its live publish with them.
    func refuse(_ refusal: Refusal) {
        log(
            .info, "rtmp_publish_refused",
            [
                "code": .string(refusal.code.identifier), "sentence": .string(refusal.sentence), "agent": .string(userAgent),
            ])
        noteRefusal(refusal, of: attempt?.grant ?? live?.pipeline.publication.grant)
        if let lease = live?.lease { ingest.environment.reports?.publishFailed(lease, refusal) }
        session.rejectPublish(code: refusal.code.rtmp.rawValue, description: refusal.text)
        flush()
        endPublish(.refused(refusal))
        close(lingering: true)
    }

    /// Counts a refusal, and keeps it for whoever asks why an encoder was turned away.
    func noteRefusal(_ refusal: Refusal, of grant: PublishGrant?) {
        ingest.environment.board?.note(
            RefusedAttempt(
                refusal, of: grant, by: transport.isTLS ? .rtmps : .rtmp, from: source, userAgent: userAgent,
                wasLive: live != nil))
    }

    func leaseEnded(_ reason: LeaseEnd) {
        guard live != nil else { return }
        switch reason {
        case .disconnected(let refusal): refuse(refusal)
        case .takenOver:
            log(.info, "rtmp_publish_taken_over")
            let words = Refusal(.streamKeyInUse, sentence: "Another encoder has taken over this stream key.")
            session.rejectPublish(code: words.code.rtmp.rawValue, description: words.text)
            flush()
            endPublish(.takenOver)
            close(lingering: true)
        }
    }

    /// Ends a live publish and gives its lease back; the connection may go on.
    func endPublish(_ reason: SessionEnd) {
        guard let ended = live else { return }
        live = nil
        ended.silence.cancel()
        ended.tick.cancel()
        ended.pipeline.end(reason)
        ingest.environment.leases.release(ended.lease)
        ended.holder.ended()
        ingest.environment.heldAttempts.released(ended.lease.participant)
        ingest.publishEnded(self, ended.pipeline.counters)
        ingest.host?.publishEnded(ended.pipeline.publication, reason)
        let counters = ended.pipeline.counters
        log(
            .info, "rtmp_publish_ended",
            [
                "reason": .string(reason.name), "video_frames": .integer(counters.videoFrames),
                "audio_frames": .integer(counters.audioFrames), "malformed": .integer(counters.malformed),
                "unconfigured": .integer(counters.unconfigured), "unsupported": .integer(counters.unsupported),
            ])
    }

    /// Forgets an attempt that is over; answers to it will find none.
    func dropAttempt() {
        if let held = attempt?.heldNumber, let participant = attempt?.grant?.participant {
            ingest.environment.heldAttempts.leave(participant, held)
        }
        attempt?.poll?.cancel()
        attempt = nil
    }

    /// The peer is gone, or is to be gone at once.
    func end(_ reason: SessionEnd) {
        endPublish(reason)
        close(lingering: false)
    }

    /// Lets the last words reach the peer, or not.
    func close(lingering: Bool) {
        if case .closed = stage { return }
        dropAttempt()
        deadline = nil
        guard lingering else {
            stage = .closed
            transport.close()
            return ingest.forget(self)
        }
        if case .closing = stage { return }
        stage = .closing
        transport.resumeReading()
        transport.closeAfterFlush(lingering: settings.lingering)
    }

    /// The transport has closed, whoever wanted it.
    func transportClosed() {
        endPublish(.connectionLost)
        if case .closed = stage { return }
        dropAttempt()
        deadline = nil
        stage = .closed
        ingest.forget(self)
    }
}

extension RTMPConnection {
    /// - Returns: whether the encoder could be asked.
    func requestReconnect(tcURL: String?) -> Bool {
        guard live != nil, session.requestReconnect(tcURL: tcURL, description: "This gateway is draining.") else { return false }
        flush()
        return true
    }
}
