import Wire

/// Where a recording's objects stand below its bucket (docs/recording.md).
struct ObjectKeys {
    let prefix: String

    func initialization(_ number: Int) -> String { "\(prefix)/media/hls/high/init-\(number).mp4" }
    func segment(_ number: Int) -> String { "\(prefix)/media/hls/high/\(number).mp4" }
    var playlist: String { "\(prefix)/media/hls/high/playlist.m3u8" }
    var multivariant: String { "\(prefix)/media/hls/multivariant.m3u8" }

    func thumbnail(_ number: Int) -> String { "\(prefix)/media/thumbnails/high/\(number).jpg" }
    var latestThumbnail: String { "\(prefix)/media/latest_thumbnail/high/thumb.jpg" }

    static let segmentType = "video/mp4"
    static let playlistType = "application/vnd.apple.mpegurl"
    static let thumbnailType = "image/jpeg"
}

extension WallTime {
    /// `2024-01-01T12-00-55Z`: of keys, which have no colons.
    var pathText: String {
        let text = CivilTime(self).rfc3339
        return text.prefix(19).replacing(":", with: "-") + "Z"
    }
}
