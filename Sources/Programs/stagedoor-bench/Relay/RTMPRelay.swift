import Glibc

/// One RTMP connection from its first media message: frames are cut into packets where they lie, sound is passed or transcoded.
///
/// It knows the one shape that `stagedoor-bench rtmp` sends: full message headers, then chunks with a marker of one byte.
@safe final class RTMPRelay: RelayedStream {
    private static let headByteCount = 12
    private static let chunkByteCount = MessageChunks.chunkSize
    /// Frame type or codec, packet type, and three or four bytes more: of AVC, and of Enhanced RTMP's Opus.
    private static let tagHeadByteCount = 5
    /// The largest message, and what has come behind it.
    private static let bufferByteCount = 1 << 20

    private let descriptor: CInt
    private let stream: Int
    private let output: RelayOutput
    private let codec: RelayTranscoder.Settings
    private let buffer: UnsafeMutableRawBufferPointer
    private var filled = 0
    private var transcoder: RelayTranscoder?
    private var numbers: (video: UInt16, audio: UInt16) = (0, 0)

    init(descriptor: CInt, stream: Int, output: RelayOutput, codec: RelayTranscoder.Settings) {
        (self.descriptor, self.stream, self.output, self.codec) = (descriptor, stream, output, codec)
        unsafe buffer = .allocate(byteCount: Self.bufferByteCount, alignment: 16)
    }

    deinit { unsafe buffer.deallocate() }

    func take() -> Bool {
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        let count = unsafe recv(descriptor, room.baseAddress, room.count, CInt(MSG_DONTWAIT))
        guard count > 0 else { return count < 0 && errno == EAGAIN }
        filled += count
        var start = 0
        while let message = message(at: start) {
            relay(message)
            unsafe start += message.wire.count
        }
        if start > 0, start < filled {
            unsafe buffer.baseAddress?.copyMemory(from: buffer.baseAddress! + start, byteCount: filled - start)
        }
        filled -= start
        return true
    }

    /// A whole message as it came, markers and all.
    @safe private struct Message {
        var kind: UInt8
        var milliseconds: Int
        var byteCount: Int
        let wire: UnsafeRawBufferPointer

        /// A byte of the body that lies in its first chunk.
        subscript(index: Int) -> UInt8 { unsafe wire[RTMPRelay.headByteCount + index] }
    }

    private func message(at start: Int) -> Message? {
        guard filled - start >= Self.headByteCount else { return nil }
        let head = unsafe UnsafeRawBufferPointer(rebasing: buffer[start..<filled])
        func number(_ offset: Int) -> Int { unsafe Int(head[offset]) << 16 | Int(head[offset + 1]) << 8 | Int(head[offset + 2]) }
        let byteCount = number(4)
        let whole = Self.headByteCount + byteCount + max(0, byteCount - 1) / Self.chunkByteCount
        guard head.count >= whole else { return nil }
        return unsafe Message(
            kind: head[7], milliseconds: number(1), byteCount: byteCount, wire: UnsafeRawBufferPointer(rebasing: head[..<whole]))
    }

    private func relay(_ message: Message) {
        guard message.byteCount > Self.tagHeadByteCount else { return }
        switch (message.kind, message[0] >> 4, message[1]) {
        case (9, _, 1): relayFrame(message)
        case (8, 9, _) where message[0] & 0x0F == 1: relayOpus(message)
        case (8, 10, 0): unsafe transcoder = RelayTranscoder(config: Array(body(of: message)), codec)
        case (8, 10, _): transcode(message)
        default: break
        }
    }

    private func relayFrame(_ message: Message) {
        let payload = RelayOutput.packetByteCount - RelayOutput.headByteCount
        for start in stride(from: Self.tagHeadByteCount, to: message.byteCount, by: payload) {
            let end = min(message.byteCount, start + payload)
            output.begin(
                .video, number: numbers.video, timestamp: UInt32(message.milliseconds * 90), source: UInt32(stream) * 2,
                isLast: end == message.byteCount)
            numbers.video &+= 1
            append(start..<end, of: message)
            if output.isFull { output.flush(.video, of: stream, segmentSize: RelayOutput.packetByteCount) }
        }
        output.flush(.video, of: stream, segmentSize: RelayOutput.packetByteCount)
    }

    /// Part of a body, around the markers between its chunks.
    private func append(_ range: Range<Int>, of message: Message) {
        var start = range.lowerBound
        while start < range.upperBound {
            let chunk = start / Self.chunkByteCount
            let end = min(range.upperBound, (chunk + 1) * Self.chunkByteCount)
            let offset = Self.headByteCount + chunk
            unsafe output.append(UnsafeRawBufferPointer(rebasing: message.wire[offset + start..<offset + end]))
            start = end
        }
    }

    private func relayOpus(_ message: Message) {
        beginAudio(at: UInt32(message.milliseconds * 48))
        append(Self.tagHeadByteCount..<message.byteCount, of: message)
        output.flush(.audio, of: stream, segmentSize: 0)
    }

    private func transcode(_ message: Message) {
        unsafe transcoder?.take(body(of: message)) { [self] packet, timestamp in
            beginAudio(at: timestamp)
            unsafe output.append(packet)
            output.flush(.audio, of: stream, segmentSize: 0)
        }
    }

    private func beginAudio(at timestamp: UInt32) {
        output.begin(.audio, number: numbers.audio, timestamp: timestamp, source: UInt32(stream) * 2 + 1, isLast: false)
        numbers.audio &+= 1
    }

    /// AAC behind its two bytes of tag, in one chunk.
    private func body(of message: Message) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: message.wire[(Self.headByteCount + 2)...])
    }
}
