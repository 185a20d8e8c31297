import SRTP
import Wire

/// Memory in which a batch's packets are protected, one behind the other, shared by a worker's legs.
@safe
final class ProtectionSlots {
    /// Room for a full batch of the longest datagrams that an Ethernet takes whole, and their trailers. Longer packets, as
    /// Opus by RTMP may be, come in batches of few.
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: WireBatch.capacity * 1_536, alignment: 16)

    deinit { unsafe bytes.deallocate() }
}

/// SRTP of one leg: one key for all its tracks, fresh with every announce, so that no two packets ever share
/// key, SSRC and index.
final class LegProtection {
    private var outbound: SRTPOutbound
    private var inbound: SRTPInbound?

    /// - Parameter feedback: the router's key, if it gave one.
    init(_ keys: SRTPKeys, feedback: SRTPKeys?) throws(SRTPError) {
        outbound = try SRTPOutbound(keys)
        if let feedback { inbound = try SRTPInbound(feedback) }
    }

    /// Copies the batch's packets into `slots`, protected there, as the whole packets of `result`.
    ///
    /// Packets that libsrtp refuses (repeated or too old) are left out: better lost than sent twice under one index. So are those
    /// for which no room is left.
    func protect(_ batch: WireBatch, into slots: ProtectionSlots, as result: WireBatch) {
        result.removeAll()
        let room = unsafe slots.bytes
        var start = 0
        for index in 0..<batch.count {
            let count = batch.byteCount(of: index)
            let end = start + count + SRTPOutbound.trailerByteCount
            guard end <= room.count else { continue }
            let slot = unsafe UnsafeMutableRawBufferPointer(rebasing: room[start..<end])
            let pieces = unsafe batch.pieces(of: index..<(index + 1))
            unsafe slot.copyMemory(from: pieces[0])
            unsafe UnsafeMutableRawBufferPointer(rebasing: slot[pieces[0].count...]).copyMemory(from: pieces[1])
            guard let protected = unsafe try? outbound.protect(slot, count: count) else { continue }
            unsafe result.append(whole: UnsafeRawBufferPointer(rebasing: slot[..<protected]))
            // libsrtp works by words.
            start = (end + 15) / 16 * 16
        }
    }

    /// A compound as SRTCP; nil when libsrtp refuses.
    func protect(control compound: [UInt8]) -> [UInt8]? {
        var bytes = compound + [UInt8](repeating: 0, count: SRTPOutbound.trailerByteCount)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe try? outbound.protectControl($0, count: compound.count) }
        return count.map { Array(bytes[..<$0]) }
    }

    /// The plain compound of an SRTCP datagram; nil when it is not genuine.
    func unprotect(control datagram: [UInt8]) -> [UInt8]? {
        var bytes = datagram
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe try? inbound?.unprotectControl($0) }
        return count.map { Array(bytes[..<$0]) }
    }
}
