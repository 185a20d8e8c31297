import RTP
import StageHub
import TestSupport
import Wire

/// Brings a clip into the hub, as RTMP does: its parameter sets once, then pictures without them.
final class ClipWriter {
    private let publication: Publication
    private var packetizer = H264Packetizer()
    private var nextSequenceNumber: Int64 = 0

    init(_ clip: [AnnexB.AccessUnit], to publication: Publication) {
        self.publication = publication
        let sets: [[UInt8]] = [7, 8].map { type in clip[0].nalUnits.first { $0[0] & 0x1F == type } ?? [] }
        packetizer.setParameterSets(sets)
        publication.setFormat(.h264(sps: sets[0], pps: sets[1]), of: .video)
    }

    func write(_ unit: AnnexB.AccessUnit, at mediaTime: Duration, arrival: MonotonicTime) {
        let memory = unit.nalUnits.filter { ![7, 8].contains($0[0] & 0x1F) }.map { nalUnit in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: nalUnit.count, alignment: 1)
            copy.copyBytes(from: nalUnit)
            return UnsafeRawBufferPointer(copy)
        }
        defer { for nalUnit in memory { nalUnit.deallocate() } }
        var packets: [MediaPacket] = []
        packetizer.cut(memory) { payload in
            packets.append(
                MediaPacket(
                    sequenceNumber: nextSequenceNumber, timestamp: mediaTime.timestamp(for: .video), marker: payload.isLast,
                    head: payload.head, headCount: payload.headCount, payload: payload.body))
            nextSequenceNumber += 1
        }
        let run = MediaRun(track: .video, isKeyframe: unit.isKeyframe, arrival: arrival)
        packets.withUnsafeBufferPointer { publication.forward($0, of: run) }
    }
}
