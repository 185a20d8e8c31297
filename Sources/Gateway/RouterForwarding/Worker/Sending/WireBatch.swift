import RTP

/// Packets about to be sent, as pieces of memory: a header written here, and the payload where it lies. One per worker.
///
/// Pieces are valid until `removeAll`. Nothing is copied unless packets are protected, which needs them in one piece.
@safe
final class WireBatch {
    private let heads = UnsafeMutableRawPointer.allocate(byteCount: capacity * headByteCount, alignment: 16)
    private let pieces = UnsafeMutableBufferPointer<UnsafeRawBufferPointer>.allocate(capacity: capacity * piecesPerPacket)
    private(set) var count = 0
    /// Of all packets.
    private(set) var byteCount = 0

    init() {
        unsafe pieces.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    deinit {
        unsafe heads.deallocate()
        unsafe pieces.deallocate()
    }

    var isFull: Bool { count == Self.capacity }

    func removeAll() { (count, byteCount) = (0, 0) }

    /// Adds a packet of a header, with its extension where that makes no fragments of it (`longestWithExtension`), `headCount`
    /// bytes of `head` (the first in the low bits), and a payload left where it lies.
    func append(
        _ header: RTPHeader, _ headerExtension: [UInt8] = [], head: UInt32, headCount: UInt8, payload: UnsafeRawBufferPointer
    ) {
        precondition(!isFull && headCount <= 4, "callers flush a full batch; payload headers have 4 bytes at most")
        let start = unsafe heads + count * Self.headByteCount
        unsafe header.writeFixed(into: start)
        var headerCount = RTPHeader.fixedByteCount
        let bodyCount = Int(headCount) + payload.count
        if !headerExtension.isEmpty, headerCount + headerExtension.count + bodyCount <= Self.longestWithExtension {
            unsafe headerCount += append(headerExtension, to: start)
        }
        unsafe start.storeBytes(of: head.littleEndian, toByteOffset: headerCount, as: UInt32.self)
        unsafe append(UnsafeRawBufferPointer(start: start, count: headerCount + Int(headCount)), payload)
    }

    /// Sets the header's X bit, and returns the extension's length.
    private func append(_ headerExtension: [UInt8], to header: UnsafeMutableRawPointer) -> Int {
        precondition(headerExtension.count <= Self.maximumExtensionByteCount, "we made it")
        unsafe header.storeBytes(of: header.load(as: UInt8.self) | 0x10, as: UInt8.self)
        let room = unsafe UnsafeMutableRawBufferPointer(start: header + RTPHeader.fixedByteCount, count: headerExtension.count)
        unsafe room.copyBytes(from: headerExtension)
        return headerExtension.count
    }

    /// Adds a packet that is whole in memory of the caller's.
    func append(whole packet: UnsafeRawBufferPointer) { unsafe append(packet, UnsafeRawBufferPointer(start: nil, count: 0)) }

    private func append(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) {
        unsafe pieces[count * Self.piecesPerPacket] = first
        unsafe pieces[count * Self.piecesPerPacket + 1] = second
        count += 1
        byteCount += first.count + second.count
    }

    /// The pieces of the packets in `range`.
    func pieces(of range: Range<Int>) -> UnsafeBufferPointer<UnsafeRawBufferPointer> {
        let start = range.lowerBound * Self.piecesPerPacket
        return unsafe UnsafeBufferPointer(rebasing: pieces[start..<(range.upperBound * Self.piecesPerPacket)])
    }

    func byteCount(of index: Int) -> Int {
        unsafe pieces[index * Self.piecesPerPacket].count + pieces[index * Self.piecesPerPacket + 1].count
    }

    /// The end of the run that starts at `start`: packets as long as the first, and one shorter one behind them.
    func endOfRun(from start: Int, limit: Int) -> Int {
        let size = byteCount(of: start)
        var end = start + 1
        while end < limit, byteCount(of: end) == size { end += 1 }
        return end < limit && byteCount(of: end) < size ? end + 1 : end
    }

    /// More packets than a batch holds are sent in several.
    static let capacity = 256
    /// 12 bytes of RTP header, a header extension, and up to 4 of payload header.
    private static let headByteCount = RTPHeader.fixedByteCount + maximumExtensionByteCount + 4
    /// MID and RID: 4 bytes before them, 1 for the length of each, and their 6 letters.
    static let maximumExtensionByteCount = 16
    /// What an Ethernet frame carries behind IPv6 and UDP, less SRTP's 16 bytes: RFC 8852 (section 3) wants no extension to cost
    /// a datagram in two fragments, and routers know a layer by its announced SSRC.
    static let longestWithExtension = 1_500 - 48 - 16
    /// Two pieces a packet; the second is empty when a packet is whole.
    static let piecesPerPacket = 2
}
