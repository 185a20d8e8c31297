import H264
import MediaContract
import Opus
import StageHub
import Wire

/// Where a session's media goes while the lease is its own, and what its packets tell there beside media.
///
/// One object, so that a packet finds all of it in one access. Confined to the session's worker.
final class MediaOutlet {
    let publication: Publication
    let inspector: ContractSession?
    /// Its audio is described as stereo.
    private var isStereo: Bool

    init(_ publication: Publication, _ inspector: ContractSession?, isStereo: Bool) {
        (self.publication, self.inspector, self.isStereo) = (publication, inspector, isStereo)
    }

    /// The parameter sets of a layer, which came before the lease.
    /// - Parameter rid: what the offer calls the layer.
    func note(_ format: TrackFormat, of track: TrackID, rid: String, at now: MonotonicTime) {
        publication.setFormat(format, of: track)
        guard case .h264(let sequenceSet, let pictureSet) = format else { return }
        let size = unsafe try? SequenceParameterSet(parsing: sequenceSet.span.bytes).pictureSize
        if let size { note(size, of: track, rid: rid, at: now) }
        // Judged with the first picture that uses them: a contract that has seen none refuses nothing.
        _ = inspector?.videoConfigured([sequenceSet, pictureSet], layer: track.layer, arrival: now)
    }

    /// The size of a layer's pictures, by a packet with its parameter sets.
    func note(_ size: PictureSize, of track: TrackID, rid: String, at now: MonotonicTime) {
        publication.setPictureSize(width: size.width, height: size.height, of: track, rid: rid, at: now)
        nameLayers()
    }

    /// For the contract's sentences.
    func nameLayers() { inspector?.layerNames = publication.layerNames }

    /// What is not forwarded; the rest is counted with its run.
    func count(_ received: ReceivedPacket) {
        publication.counters[received.track].count(
            byteCount: received.packet.payloadByteCount, endsFrame: received.packet.endsFrame(of: received.track))
    }

    /// Offers may leave out that Opus is stereo (RFC 7587 §6.1), and who took it for mono would mix it down. A packet of one
    /// channel proves nothing: encoders send some when both are the same.
    func noteChannels(of received: ReceivedPacket) {
        guard received.track.kind == .audio, !isStereo, let first = unsafe received.packet.payload.first, TOC(first).isStereo
        else { return }
        isStereo = true
        publication.setFormat(.opus(isStereo: true), of: .audio)
    }
}
