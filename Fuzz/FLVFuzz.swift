// fuzz: module=FLV
import FLV
import Wire

/// The first byte chooses what the rest is read as; what is found must lie inside it.
enum FLVFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        let message = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        switch first % 4 {
        case 0:
            var tracks = TracksInOrder(of: message)
            var tag = try? VideoTag(parsing: message.bytes)
            while let track = tag {
                tracks.found(track.body)
                tag = try? track.next(in: message.bytes)
            }
        case 1:
            var tracks = TracksInOrder(of: message)
            var tag = try? AudioTag(parsing: message.bytes)
            while let track = tag {
                tracks.found(track.body)
                tag = try? track.next(in: message.bytes)
            }
        case 2:
            var offset = 0
            while let tag = try? FLVTag.next(in: message.bytes, at: &offset) {
                precondition(tag.body.lowerBound >= 0 && tag.body.upperBound <= message.count, "A payload lies outside its file")
            }
        default:
            guard let metadata = StreamMetadata(parsing: message.bytes) else { return }
            precondition(metadata.videoTracks.count + metadata.audioTracks.count <= 64, "Metadata has tracks without end")
        }
    }

    /// Tracks lie inside their message, behind each other, and are not too many.
    private struct TracksInOrder {
        private let byteCount: Int
        private var end = 0
        private var count = 0

        init(of message: UnsafeRawBufferPointer) { byteCount = message.count }

        mutating func found(_ body: Range<Int>) {
            count += 1
            precondition(body.lowerBound >= end && body.upperBound <= byteCount, "A payload lies outside its message")
            precondition(count <= 16, "A message has tracks without end")
            end = body.upperBound
        }
    }
}
