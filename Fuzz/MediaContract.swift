// fuzz: module=MediaContract
import H264
import MediaContract
import Settings
import Wire

/// A session's worth of RTP payloads or access units of one to four layers, one more than there may be, cut from one input: the
/// monitor ends at most once and says why.
enum MediaContractFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 2 else { return }
        let ingest: ContractMonitor.Ingest = bytes[0] & 1 == 0 ? .whip : .rtmp
        let layerCount = (bytes[0] >> 1 & 3) + 1
        var layer: UInt8 = 0
        var monitor = ContractMonitor(rules: ContractSettings(), ingest: ingest, product: "FMLE/3.0 (compatible; FMSc/1.0)")
        var found = NALUnitList()
        var (offset, number, time) = (1, Int64(0), Int64(0))
        while offset + 2 < bytes.count {
            let (length, step) = (Int(bytes[offset]), Int64(Int8(bitPattern: bytes[offset + 1])))
            let end = min(offset + 2 + length, bytes.count)
            let payload = UnsafeRawBufferPointer(rebasing: bytes[(offset + 2)..<end])
            (offset, number, time) = (end, number + 1 + step / 64, time + step * 3_000)
            layer = (layer + 1) % layerCount
            let moment = MediaMoment(mediaTime: time, arrival: MonotonicTime(nanoseconds: number * 33_000_000))
            if ingest == .whip {
                found.find(inPayload: payload)
                monitor.rtpPayload(found, layer: layer, sequenceNumber: number, at: moment)
            } else {
                found.find(inAccessUnit: payload, lengthSize: 2)
                monitor.accessUnit(found, layer: layer, at: moment)
            }
        }
        let ends = monitor.takeNews().filter { if case .disconnect = $0 { true } else { false } }
        precondition(ends.count == (monitor.isOver ? 1 : 0), "a publish ends once")
    }
}
