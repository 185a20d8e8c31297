/// A validator of media playlists by the rules of RFC 8216, for tests: it knows nothing of the code that wrote them.
struct PlaylistRules {
    private(set) var broken: [String] = []
    private(set) var uris: [String] = []
    private(set) var maps: [String] = []
    private(set) var discontinuities = 0
    private(set) var dates: [String] = []
    private(set) var isOver = false
    private var targetDuration = 0
    private var hasMap = false
    private var duration: Double?

    init(_ text: String) {
        if !text.hasSuffix("\n") { broken.append("the last line is not ended") }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        if lines.first != "#EXTM3U" { broken.append("§4.3.1.1: EXTM3U is not the first line") }
        for tag in ["#EXT-X-VERSION:", "#EXT-X-TARGETDURATION:", "#EXT-X-PLAYLIST-TYPE:"]
        where lines.count(where: { $0.hasPrefix(tag) }) != 1 {
            broken.append("\(tag) does not stand there once")
        }
        for line in lines { look(at: line) }
        if duration != nil { broken.append("§4.3.2.1: an EXTINF without a segment") }
    }

    private mutating func look(at line: String) {
        let value = line.firstIndex(of: ":").map { String(line[line.index(after: $0)...]) } ?? ""
        switch line.prefix(while: { $0 != ":" }) {
        case "#EXTM3U", "#EXT-X-VERSION", "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-PLAYLIST-TYPE": break
        case "#EXT-X-TARGETDURATION": targetDuration = Int(value) ?? 0
        case "#EXT-X-DISCONTINUITY": discontinuities += 1
        case "#EXT-X-MAP":
            hasMap = true
            maps.append(value)
        case "#EXT-X-PROGRAM-DATE-TIME": dates.append(value)
        case "#EXTINF": readDuration(value)
        case "#EXT-X-ENDLIST": isOver = true
        default: line.hasPrefix("#") ? broken.append("unknown: \(line)") : addSegment(line)
        }
    }

    private mutating func readDuration(_ value: String) {
        guard value.hasSuffix(","), let seconds = Double(value.dropLast()), seconds > 0 else {
            return broken.append("§4.3.2.1: EXTINF:\(value)")
        }
        duration = seconds
        if Int(seconds.rounded()) > targetDuration { broken.append("§4.3.3.1: \(seconds) s is over the target duration") }
    }

    private mutating func addSegment(_ uri: String) {
        if uri.isEmpty { broken.append("an empty line") }
        if duration == nil { broken.append("§4.3.2.1: \(uri) has no EXTINF") }
        if !hasMap { broken.append("§4.3.2.5: \(uri) has no initialization segment") }
        if isOver { broken.append("§4.3.3.4: \(uri) comes after the end") }
        if uris.contains(uri) { broken.append("\(uri) stands there twice") }
        uris.append(uri)
        duration = nil
    }
}
