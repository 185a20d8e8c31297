import Foundation
import TestSupport
import Testing

/// A folder that a gateway records into, or that a bucket was copied to.
struct RecordingFolder {
    let url = Workspace.temporaryFile(suffix: ".recordings")

    /// Lines of the configuration file.
    var setting: String { "recording: {directory: \"\(url.path)\"}" }

    /// Of all recordings, in the order of their names.
    var playlists: [String] {
        files.filter { $0.hasSuffix("/media/hls/high/playlist.m3u8") }.map { "\(url.path)/\($0)" }
    }

    /// Paths below it, sorted.
    var files: [String] { (FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []).sorted() }

    private var texts: [String] { playlists.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) } }

    /// That playlists name.
    var segments: Int { texts.reduce(0) { $0 + $1.split(separator: "\n").filter { $0.hasPrefix("#EXTINF:") }.count } }

    /// So many recordings are over, and no more.
    func hasEnded(_ count: Int) -> Bool { texts.count == count && texts.allSatisfy { $0.contains("#EXT-X-ENDLIST") } }

    /// Every playlist is over and keeps RFC 8216's rules, and what it names is there.
    /// - Parameter codecs: words that the last one's multivariant playlist has.
    func expectHLS(codecs: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        for path in playlists {
            let playlist = try String(contentsOfFile: path, encoding: .utf8)
            let rules = PlaylistRules(playlist)
            #expect(rules.broken == [] && rules.isOver, "\(rules.broken)\n\(playlist)", sourceLocation: sourceLocation)
            let place = path.dropLast("playlist.m3u8".count)
            for name in rules.uris + rules.maps.map({ $0.split(separator: "\"").last.map(String.init) ?? "" }) {
                #expect(FileManager.default.fileExists(atPath: place + name), "\(name)", sourceLocation: sourceLocation)
            }
        }
        let last = try #require(playlists.last, sourceLocation: sourceLocation)
        let place = last.dropLast("high/playlist.m3u8".count)
        let multivariant = try String(contentsOfFile: place + "multivariant.m3u8", encoding: .utf8)
        for codec in codecs { #expect(multivariant.contains(codec), "\(multivariant)", sourceLocation: sourceLocation) }
    }
}
