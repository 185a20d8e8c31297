import Glibc

/// A file's messages taken from TCP connections, one `recv` each, and their RTP packets sent: a frame's by one call.
///
/// One `poll` serves sixteen connections, as a busy server's does; nothing is parsed.
struct RTMPFloor {
    private static let connectionCount = 16
    private static let packetByteCount = 1_184
    private let messages: [(byteCount: Int, isVideo: Bool)]
    private let seconds: Double

    init(_ file: FLVFile) {
        messages = file.tags.filter { !$0.isSequenceHeader && $0.kind != .script }
            .map { ($0.body.count + 12, $0.kind == .video) }
        seconds = Double(file.duration) / 1_000
    }

    func millisecondsPerSecond() throws -> Double {
        let connections = try (0..<Self.connectionCount).map { _ in try LoopbackPair(isStream: true) }
        let gun = DatagramGun(try LoopbackPair(isStream: false))
        defer { gun.free() }
        var waiting = connections.map { pollfd(fd: $0.far, events: Int16(POLLIN), revents: 0) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { unsafe buffer.deallocate() }
        unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
        var clock = FloorClock()
        for (byteCount, isVideo) in messages {
            for connection in connections { unsafe send(connection.near, buffer.baseAddress, byteCount, 0) }
            clock.measure {
                unsafe poll(&waiting, nfds_t(waiting.count), -1)
                for connection in connections {
                    var received = 0
                    while received < byteCount {
                        let count = unsafe recv(connection.far, buffer.baseAddress, buffer.count, 0)
                        guard count > 0 else { break }
                        received += count
                    }
                    Self.forward(byteCount, isVideo: isVideo, gun)
                }
            }
            gun.pair.drainFar()
        }
        return clock.milliseconds / Double(Self.connectionCount) / seconds
    }

    /// At most 54 packets go by one call.
    private static func forward(_ byteCount: Int, isVideo: Bool, _ gun: DatagramGun) {
        guard isVideo, byteCount > packetByteCount else { return gun.send(byteCount: min(byteCount, packetByteCount)) }
        var rest = byteCount
        while rest > 0 {
            let part = min(rest, 54 * packetByteCount)
            gun.send(byteCount: part, segmentSize: packetByteCount)
            rest -= part
        }
    }
}
