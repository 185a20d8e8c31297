import CRTMP
import Glibc

/// One publisher: librtmp connects and publishes (both block), then its socket takes chunks that were made elsewhere.
@safe final class RTMPClient {
    enum Fault: Error { case badURL, connectFailed, publishRefused }

    /// What the caller asks for at the end of a stream.
    enum Ending: String, CaseIterable { case fin, rst }

    let descriptor: CInt
    let isTLS: Bool
    let messageStreamID: UInt32
    private let rtmp: UnsafeMutablePointer<RTMP>
    private let url: UnsafeMutablePointer<CChar>
    /// Bytes the socket did not take yet.
    private var waiting: [UInt8] = []
    private var isOver = false

    /// Connects and publishes; returns once the server has answered `NetStream.Publish.Start`.
    init(url text: String) throws(Fault) {
        RTMP_LogSetLevel(RTMP_LOGCRIT)
        // librtmp points into the text it parsed.
        unsafe url = strdup(text)
        unsafe rtmp = RTMP_Alloc()
        unsafe RTMP_Init(rtmp)
        // Seconds, for a server on a machine that is busy with others as well.
        unsafe rtmp.pointee.Link.timeout = 60
        var fault: Fault?
        if unsafe RTMP_SetupURL(rtmp, url) == 0 {
            fault = .badURL
        } else {
            unsafe RTMP_EnableWrite(rtmp)
            if unsafe RTMP_Connect(rtmp, nil) == 0 {
                fault = .connectFailed
            } else if unsafe RTMP_ConnectStream(rtmp, 0) == 0 {
                fault = .publishRefused
            }
        }
        descriptor = unsafe RTMP_Socket(rtmp)
        isTLS = text.hasPrefix("rtmps:")
        messageStreamID = unsafe UInt32(truncatingIfNeeded: rtmp.pointee.m_stream_id)
        if let fault { throw fault }
        if !isTLS { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
    }

    deinit {
        unsafe RTMP_Close(rtmp)
        unsafe RTMP_Free(rtmp)
        unsafe free(url)
    }

    /// Sends what the socket takes and keeps the rest; false when the connection is over.
    func send(_ bytes: [UInt8]) -> Bool {
        guard !isOver else { return false }
        if isTLS { return unsafe bytes.withUnsafeBytes { unsafe sendAllByTLS($0) } }
        waiting += bytes
        return flush()
    }

    /// Tries again what `send` kept.
    func flush() -> Bool {
        guard !waiting.isEmpty, !isOver else { return !isOver }
        let sent = unsafe Glibc.send(descriptor, waiting, waiting.count, CInt(MSG_NOSIGNAL))
        if sent > 0 { waiting.removeFirst(sent) }
        if sent < 0 && errno != EAGAIN { isOver = true }
        return !isOver
    }

    var waitingByteCount: Int { waiting.count }

    /// Takes what the server says (acknowledgements, pings) and forgets it; false when the connection is over.
    func drain() -> Bool {
        if isTLS {
            guard unsafe RTMPSockBuf_Fill(&rtmp.pointee.m_sb) > 0 else { isOver = true; return false }
            unsafe rtmp.pointee.m_sb.sb_size = 0
            return true
        }
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 1)
        defer { unsafe scratch.deallocate() }
        while true {
            let count = unsafe recv(descriptor, scratch.baseAddress, scratch.count, 0)
            if count > 0 { continue }
            if count == 0 || errno != EAGAIN { isOver = true }
            return !isOver
        }
    }

    /// The server sees a reset where a closed socket would have said goodbye.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        // RTMP_Close sends FCUnpublish and deleteStream while a stream id is set.
        unsafe rtmp.pointee.m_stream_id = -1
    }

    private func sendAllByTLS(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        while start < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
            let sent = unsafe RTMPSockBuf_Send(
                &rtmp.pointee.m_sb, rest.bindMemory(to: CChar.self).baseAddress, CInt(min(rest.count, 65_536)))
            guard sent > 0 else { isOver = true; return false }
            start += Int(sent)
        }
        return true
    }
}
