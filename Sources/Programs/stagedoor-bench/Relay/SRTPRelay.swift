import CShim
import EventLoop
import SRTP
import Wire

/// One stream of SRTP: all that has come is taken by one call, and a frame's packets, of one length but the last, go by another.
@safe final class SRTPRelay: RelayedStream {
    private let descriptor: CInt
    private let stream: Int
    private let output: RelayOutput
    private let batch: OpaquePointer
    private var inbound: SRTPInbound

    init(descriptor: CInt, stream: Int, output: RelayOutput, profile: SRTPProfile) throws {
        (self.descriptor, self.stream, self.output) = (descriptor, stream, output)
        inbound = try SRTPInbound(.agreed(profile))
        guard let batch = unsafe shim_batch_new() else { throw SystemError(call: "malloc") }
        unsafe self.batch = batch
    }

    deinit { unsafe shim_batch_free(batch) }

    func take() -> Bool {
        var drops: UInt32 = 0
        let count = unsafe Int(shim_batch_receive(batch, descriptor, &drops))
        guard count > 0, let datagrams = unsafe shim_batch_datagrams(batch) else { return true }
        var (kind, size) = (RelayOutput.Kind.video, 0)
        for index in 0..<count {
            let packet = unsafe UnsafeMutableRawBufferPointer(start: datagrams[index].bytes, count: Int(datagrams[index].count))
            guard let plain = unsafe unprotect(packet) else { continue }
            let its = unsafe plain[1] & 0x7F == WHIPOffer.videoPayloadType ? RelayOutput.Kind.video : .audio
            if its != kind || plain.count > size || output.isFull {
                output.flush(kind, of: stream, segmentSize: size)
                (kind, size) = (its, plain.count)
            }
            unsafe output.append(packet: plain)
            if plain.count < size {
                output.flush(kind, of: stream, segmentSize: size)
                size = 0
            }
        }
        output.flush(kind, of: stream, segmentSize: size)
        return true
    }

    /// Nil for RTCP, which a relay does without, and for what is not genuine.
    private func unprotect(_ packet: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer? {
        guard packet.count > 12, unsafe !(192...223).contains(packet[1]),
            let count = try? unsafe inbound.unprotect(packet)
        else { return nil }
        return unsafe UnsafeMutableRawBufferPointer(rebasing: packet[..<count])
    }
}

extension SRTPKeys {
    /// Known to both sides: `whip --bare` and `relay`, and the steps of SRTP.
    static func agreed(_ profile: SRTPProfile) -> SRTPKeys {
        let count = profile.masterKeyByteCount + profile.masterSaltByteCount
        return SRTPKeys(profile: profile, keyAndSalt: Secret((0..<UInt8(count)).map { $0 }))
    }
}
