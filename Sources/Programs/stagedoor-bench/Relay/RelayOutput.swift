import CShim
import Glibc

/// Sends one thread's packets: gathered from where their bytes lie, those of a frame by one call (UDP GSO).
@safe final class RelayOutput {
    /// What fills a datagram of the media that the gateway sends, and the part of it that is the RTP
    /// header and a fragment's two bytes.
    static let packetByteCount = 1_184
    static let headByteCount = 14
    private static let audioHeadByteCount = 12
    /// Of one call: 64 KB less a packet.
    private static let maximumPackets = 54
    private static let maximumVectors = 4 * maximumPackets

    private let descriptor: CInt
    private let firstPort: UInt16
    private let vectors: UnsafeMutablePointer<iovec>
    private let heads: UnsafeMutableRawPointer
    private var vectorCount = 0
    private var packetCount = 0

    init(firstPort: UInt16) throws {
        self.firstPort = firstPort
        descriptor = try LoopbackSocket.datagrams()
        unsafe vectors = .allocate(capacity: Self.maximumVectors)
        unsafe heads = .allocate(byteCount: Self.maximumPackets * Self.headByteCount, alignment: 16)
    }

    deinit {
        close(descriptor)
        unsafe vectors.deallocate()
        unsafe heads.deallocate()
    }

    enum Kind: UInt16 {
        case video = 0
        case audio = 2
    }

    var isFull: Bool { packetCount == Self.maximumPackets }

    /// Begins a packet of our own; its payload follows by `append`.
    func begin(_ kind: Kind, number: UInt16, timestamp: UInt32, source: UInt32, isLast: Bool) {
        let head = unsafe heads + packetCount * Self.headByteCount
        unsafe head.storeBytes(of: 0x80, as: UInt8.self)
        unsafe head.storeBytes(of: (isLast ? 0x80 : 0) | (kind == .video ? 96 : 111), toByteOffset: 1, as: UInt8.self)
        unsafe head.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt16.self)
        unsafe head.storeBytes(of: timestamp.bigEndian, toByteOffset: 4, as: UInt32.self)
        unsafe head.storeBytes(of: source.bigEndian, toByteOffset: 8, as: UInt32.self)
        // FU indicator and header of a slice (RFC 6184 §5.8).
        unsafe head.storeBytes(of: UInt16(0x7C01).bigEndian, toByteOffset: 12, as: UInt16.self)
        packetCount += 1
        unsafe gather(head, kind == .video ? Self.headByteCount : Self.audioHeadByteCount)
    }

    /// Further bytes of the packet that was begun.
    func append(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        unsafe gather(UnsafeMutableRawPointer(mutating: base), bytes.count)
    }

    /// A whole packet that was there before.
    func append(packet: UnsafeMutableRawBufferPointer) {
        guard let base = packet.baseAddress else { return }
        packetCount += 1
        unsafe gather(base, packet.count)
    }

    /// Sends what was gathered.
    /// - Parameter segmentSize: the length of every packet but the last.
    func flush(_ kind: Kind, of stream: Int, segmentSize: Int) {
        guard packetCount > 0 else { return }
        var peer = LoopbackSocket.address(port: firstPort + UInt16(stream) * 4 + kind.rawValue)
        var local = shim_address()
        _ = unsafe shim_send_datagrams(
            descriptor, AF_INET, vectors, CInt(vectorCount), packetCount > 1 ? UInt16(segmentSize) : 0, &peer, &local)
        (vectorCount, packetCount) = (0, 0)
    }

    private func gather(_ base: UnsafeMutableRawPointer, _ count: Int) {
        unsafe vectors[vectorCount] = iovec(iov_base: base, iov_len: count)
        vectorCount += 1
    }
}
