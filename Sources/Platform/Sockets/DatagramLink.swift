public import EventLoop
import Glibc
public import Wire

/// Hands datagrams of a UDP port to another process that answers them: one end of a `DescriptorMessage.makePair()`.
///
/// Each travels as one message behind a header of 40 bytes with its addresses. What the pair does not take at once waits here,
/// because the sender reads whole batches and the pair's buffer is small. Confined to its loop.
@safe
public final class DatagramLink {
    /// Waiting datagrams at most; further ones are dropped and counted.
    public static let maximumWaiting = 8_192
    /// Datagrams handed over per second at most: 100 ms of CPU, and more than any uplink brings.
    public static let maximumPerSecond = 100_000
    /// Taken in one turn; then other descriptors have their turn.
    static let slotCount = 32
    static let maximumPayload = 2_048
    /// Bytes behind a payload that may be touched, as with `Datagram`s of a socket.
    private static let slack = 64
    private static let stride = LinkHeader.byteCount + maximumPayload + slack

    /// Called with each datagram that came, valid until `onBatchEnd`.
    public var onDatagram: (Datagram) -> Void = { _ in }
    /// Called after the last datagram of what was read at once.
    public var onBatchEnd: () -> Void = {}
    /// Datagrams that the kernel took.
    public private(set) var sent = 0
    /// Datagrams that a limit or the kernel refused.
    public private(set) var dropped = 0

    private let loop: EventLoop
    private let descriptor: OwnedDescriptor
    private let slots: UnsafeMutableRawBufferPointer
    private var waiting: [[UInt8]] = []
    private var readWatch: DescriptorWatch?
    private var writeWatch: DescriptorWatch?
    private var rate = Allowance(maximumPerSecond, then: .seconds(1) / maximumPerSecond)

    /// One end of a pair of sockets; the other process has the other.
    public init(loop: EventLoop, descriptor: OwnedDescriptor) {
        (self.loop, self.descriptor) = (loop, descriptor)
        unsafe slots = .allocate(byteCount: Self.slotCount * Self.stride, alignment: 64)
        // What the system allows at most: the pair has to hold a batch.
        for option in [SO_SNDBUF, SO_RCVBUF] {
            var size = UDPSocket.bufferBytes
            unsafe setsockopt(descriptor.number, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<CInt>.size))
        }
        readWatch = loop.watch(descriptor: descriptor.number, for: .read, priority: .media) { [unowned self] in receive() }
    }

    deinit {
        readWatch?.cancel()
        writeWatch?.cancel()
        unsafe slots.deallocate()
    }

    /// Hands one datagram over, in order.
    public func send(_ payload: UnsafeRawBufferPointer, from source: SocketAddress, to local: IPAddress?) {
        guard payload.count <= Self.maximumPayload, rate.take(at: loop.now), waiting.count < Self.maximumWaiting else {
            dropped += 1
            return
        }
        var header = LinkHeader(source: source, local: local)
        if waiting.isEmpty, unsafe withUnsafeBytes(of: &header.words, { unsafe transmit($0, payload) }) { return }
        waiting.append(unsafe withUnsafeBytes(of: &header.words) { unsafe Array($0) + Array(payload) })
        awaitWritable()
    }

    /// - Returns: false where the pair is full, and the datagram has to wait.
    private func transmit(_ header: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer) -> Bool {
        var vectors = unsafe [
            iovec(iov_base: UnsafeMutableRawPointer(mutating: header.baseAddress), iov_len: header.count),
            iovec(iov_base: UnsafeMutableRawPointer(mutating: payload.baseAddress), iov_len: payload.count),
        ]
        let status = unsafe vectors.withUnsafeMutableBufferPointer { vectors in
            var message = unsafe msghdr()
            unsafe message.msg_iov = vectors.baseAddress
            unsafe message.msg_iovlen = vectors.count
            return unsafe sendmsg(descriptor.number, &message, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
        }
        if status < 0, errno == EAGAIN { return false }
        if status < 0 { dropped += 1 } else { sent += 1 }
        return true
    }

    private func awaitWritable() {
        if let writeWatch { return writeWatch.resume() }
        writeWatch = loop.watch(descriptor: descriptor.number, for: .write, priority: .media) { [unowned self] in flush() }
    }

    private func flush() {
        var count = 0
        while count < waiting.count {
            let isDone = unsafe waiting[count].withUnsafeBytes {
                unsafe transmit($0, UnsafeRawBufferPointer(start: nil, count: 0))
            }
            if !isDone { break }
            count += 1
        }
        waiting.removeFirst(count)
        if waiting.isEmpty { writeWatch?.suspend() }
    }

    private func receive() {
        var count = 0
        while count < Self.slotCount {
            let slot = unsafe UnsafeMutableRawBufferPointer(rebasing: slots[count * Self.stride..<(count + 1) * Self.stride])
            let room = Self.stride - Self.slack
            let length = unsafe recv(descriptor.number, slot.baseAddress, room, CInt(MSG_DONTWAIT))
            guard length > 0 else {
                if length == 0 { readWatch?.cancel() }
                break
            }
            count += 1
            guard let header = unsafe LinkHeader(UnsafeRawBufferPointer(rebasing: slot[..<length])) else { continue }
            let payload = unsafe UnsafeMutableRawBufferPointer(rebasing: slot[LinkHeader.byteCount..<length])
            unsafe onDatagram(Datagram(payload: payload, source: header.source, local: header.local))
        }
        if count > 0 { onBatchEnd() }
    }
}

/// The addresses of a datagram on its way to another process of this machine: five words in its own byte order.
///
/// Families, scope and port; then both halves of the source, both halves of the local address.
struct LinkHeader {
    static let byteCount = 40

    var words: (UInt64, UInt64, UInt64, UInt64, UInt64)

    init(source: SocketAddress, local: IPAddress?) {
        let (from, to) = (Self.words(source.ip), local.map(Self.words))
        let families = UInt64(from.family) << 56 | UInt64(to?.family ?? 0) << 48
        words = (
            families | UInt64(source.port) << 32 | UInt64(from.scope), from.high, from.low, to?.high ?? 0, to?.low ?? 0
        )
    }

    /// Nil when there is no whole header.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.byteCount else { return nil }
        let read = (0..<5).map { unsafe bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        words = (read[0], read[1], read[2], read[3], read[4])
    }

    var source: SocketAddress {
        let address = Self.address(UInt8(words.0 >> 56), words.1, words.2, UInt32(truncatingIfNeeded: words.0)) ?? .anyV4
        return SocketAddress(address, port: UInt16(truncatingIfNeeded: words.0 >> 32))
    }

    var local: IPAddress? { Self.address(UInt8(truncatingIfNeeded: words.0 >> 48), words.3, words.4, 0) }

    private static func words(_ address: IPAddress) -> (family: UInt8, high: UInt64, low: UInt64, scope: UInt32) {
        switch address {
        case .v4(let value): (4, 0, UInt64(value), 0)
        case .v6(let high, let low, let scope): (6, high, low, scope)
        }
    }

    private static func address(_ family: UInt8, _ high: UInt64, _ low: UInt64, _ scope: UInt32) -> IPAddress? {
        switch family {
        case 4: .v4(UInt32(truncatingIfNeeded: low))
        case 6: .v6(high: high, low: low, scope: scope)
        default: nil
        }
    }
}
