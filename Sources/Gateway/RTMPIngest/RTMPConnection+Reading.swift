import EventLoop
import GatewayLogging
import GatewayMetrics
import HTTP
import RTMP
import Refusals
import Settings
import StageHub
import Wire

/// What comes in.
extension RTMPConnection {
    /// Takes bytes as they lie in the loop's buffer.
    /// - Returns: how many were consumed; the rest is to be given again with what follows.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        receivedBytes.increment(by: bytes.count)
        switch stage {
        case .awaitingPROXYHeader: return readPROXYHeader(bytes)
        case .sniffing: return sniff(bytes)
        case .session: return readSession(bytes)
        case .closing, .closed: return bytes.count
        }
    }

    private func readPROXYHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
        do throws(PROXYHeader.ParseError) {
            guard let header = try PROXYHeader.parse(bytes.bytes) else { return 0 }
            if let client = header.source { source = client }
            stage = .sniffing
            guard ingest.admit(self) else {
                end(.connectionLost)
                return bytes.count
            }
            let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(header.byteCount))
            return header.byteCount + (rest.isEmpty ? 0 : sniff(rest))
        } catch {
            log(.warning, "rtmp_proxy_header_missing", ["reason": .error(error)])
            end(.connectionLost)
            return bytes.count
        }
    }

    private func sniff(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let first = bytes.first else { return 0 }
        guard first == Self.tlsHandshakeRecord, !transport.isTLS else {
            stage = .session
            return readSession(bytes)
        }
        if transport.startTLS() { return 0 }
        log(.info, "rtmp_tls_not_configured")
        end(.connectionLost)
        return bytes.count
    }

    private static let tlsHandshakeRecord: UInt8 = 0x16

    /// What follows an unanswered `publish` stays with the transport, which is paused until then.
    private func readSession(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        do throws(RTMPError) {
            while let event = try session.nextEvent(in: bytes, at: &offset) {
                handshakeCompleted()
                handle(event)
                guard case .session = stage else { return bytes.count }
            }
        } catch {
            failed(error)
            return bytes.count
        }
        if !isHandshakeOver, session.isHandshakeComplete { handshakeCompleted() }
        if admittedAddress != nil, session.partialByteCount != countedByteCount { ingest.countBytes(of: self) }
        flush()
        return offset
    }

    /// Sends what the session has to say. A peer that asks and never reads is left alone.
    func flush() {
        if case .closed = stage { return }
        guard !session.output.isEmpty else { return }
        transport.write(session.takeOutput())
        guard transport.pendingWriteByteCount > Self.maximumPendingWriteByteCount else { return }
        log(.info, "rtmp_peer_does_not_read")
        end(.connectionLost)
    }

    private func handle(_ event: RTMPEvent) {
        switch event {
        case .connect(let request): connectRequested(request)
        case .publish(let target): publishRequested(target)
        case .video(let media): received(media, isVideo: true)
        case .audio(let media): received(media, isVideo: false)
        case .data: break
        case .unpublished:
            endPublish(.closed)
            setDeadline(after: settings.publishTimeout)
        }
    }

    private func received(_ media: RTMPMedia, isVideo: Bool) {
        guard let live else { return }
        let now = loop.now
        live.lastMedia = now
        let refusal =
            isVideo
            ? live.pipeline.receiveVideo(media.payload, timestamp: media.timestamp, arrival: now)
            : live.pipeline.receiveAudio(media.payload, timestamp: media.timestamp, arrival: now)
        if let refusal { refuse(refusal) }
    }

    private func failed(_ error: RTMPError) {
        ingest.metrics.protocolErrors.increment()
        log(.info, "rtmp_protocol_error", ["reason": .string(error.explanation)])
        if error == .httpRequest {
            transport.write(Self.httpAnswer)
            close(lingering: true)
        } else if live != nil {
            refuse(Refusal(.malformedRTMP, sentence: "The RTMP stream is malformed: \(error.explanation)."))
        } else {
            end(.connectionLost)
        }
    }

    private static let httpAnswer: [UInt8] = {
        let body = "This port takes RTMP and RTMPS from encoders, not HTTP. WHIP has a port of its own.\n"
        let head = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
        return Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }()
}
