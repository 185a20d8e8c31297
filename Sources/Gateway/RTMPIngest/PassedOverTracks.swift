import FLV
import H264

/// The tracks that an encoder sends and that are not forwarded, for the session's story. A value.
struct PassedOverTracks: Equatable {
    struct Audio: Equatable {
        let id: UInt8
        let codec: AudioCodec
    }

    /// The one that shows the canvas.
    var mainVideo: UInt8 = 0
    /// By number.
    var video: [TrackPlaces.PassedOver] = []
    /// As they came.
    var audio: [Audio] = []
    /// There are more tracks than are followed.
    var hasFurther = false

    var isEmpty: Bool { video.isEmpty && audio.isEmpty && !hasFurther }

    /// - Parameter metadata: what the encoder has announced.
    func sentence(_ metadata: StreamMetadata?) -> String {
        var parts = video.map { track in
            switch track.reason {
            case .codec(let codec):
                "video track \(track.id) (\(Self.joined(codec, metadata?.videoTracks[track.id]))): layers are H.264"
            case .shape(let size): "video track \(track.id) (\(size)): its shape is not that of track \(mainVideo)"
            case .rank(let size): "video track \(track.id) (\(size)): there are three layers of higher bitrates"
            }
        }
        parts += audio.map { track in
            "audio track \(track.id) (\(Self.joined(track.codec.name, metadata?.audioTracks[track.id]))): one track of audio is taken"
        }
        if hasFurther { parts.append("tracks beyond ten of a kind") }
        return "Not forwarded: " + parts.joined(separator: "; ") + "."
    }

    private static func joined(_ codec: String, _ announced: StreamMetadata.Track?) -> String {
        let size = announced.flatMap { track in
            track.width.flatMap { width in track.height.map { PictureSize(width: width, height: $0).description } }
        }
        let rate = announced?.kilobitsPerSecond.map { "\($0) kbit/s" }
        return [codec, size, rate].compactMap { $0 }.joined(separator: ", ")
    }
}
