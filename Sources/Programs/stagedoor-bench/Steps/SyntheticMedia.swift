import Admission
import StageHub
import Wire

/// A stream as the hub hands it on: thirty pictures a second of ten packets each, in every layer, the first one a keyframe.
@safe final class SyntheticMedia {
    static let (picturesInSecond, packetsInPicture) = (30, 10)
    static let packetsInSecond = picturesInSecond * packetsInPicture

    private let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_172, alignment: 16)
    private let packets = UnsafeMutableBufferPointer<MediaPacket>.allocate(capacity: packetsInPicture)
    private let layers: [TrackID]
    private var pictures: Int64 = 0

    init(layerCount: UInt8 = 1) {
        layers = (0..<layerCount).map { TrackID(.video, layer: $0) }
        unsafe payload.initializeMemory(as: UInt8.self, repeating: 0x41)
    }

    deinit {
        unsafe payload.deallocate()
        unsafe packets.deallocate()
    }

    /// Its clock is its own: what a step does must not depend on how fast the machine is.
    private var now: MonotonicTime { MonotonicTime(nanoseconds: pictures * 33_333_333) }

    /// A publication that knows its layers and has a clock for them.
    func makePublication() -> Publication {
        let publication = Publication(
            grant: PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h"),
            lease: PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1), ingestProtocol: .rtmp,
            timeline: Timeline())
        for layer in layers {
            publication.timeline.observe(0, of: layer, arrival: now)
            publication.setPictureSize(width: 1_280 >> Int(layer.layer), height: 720 >> Int(layer.layer), of: layer, at: now)
        }
        return publication
    }

    /// Hands the next pictures on.
    func bring(_ count: Int = picturesInSecond, to publication: Publication) {
        for _ in 0..<count {
            let isKeyframe = pictures % Int64(Self.picturesInSecond) == 0
            for layer in layers {
                fillPackets()
                unsafe publication.forward(
                    UnsafeBufferPointer(packets), of: MediaRun(track: layer, isKeyframe: isKeyframe, arrival: now))
            }
            pictures += 1
        }
    }

    private func fillPackets() {
        let count = unsafe packets.count
        for index in 0..<count {
            unsafe packets.initializeElement(
                at: index,
                to: MediaPacket(
                    sequenceNumber: pictures * Int64(count) + Int64(index), timestamp: pictures * 3_000,
                    marker: index == count - 1, payload: UnsafeRawBufferPointer(payload)))
        }
    }
}
