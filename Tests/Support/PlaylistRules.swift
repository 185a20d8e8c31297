import Foundation

/// A validator of media playlists by the rules of RFC 8216, for tests: it knows nothing of the code that wrote them.
public struct PlaylistRules {
    /// What is wrong, each with the section that says so.
    public private(set) var broken: [String] = []
    public private(set) var uris: [String] = []
    public private(set) var maps: [String] = []
    public private(set) var dates: [String] = []
    public private(set) var isOver = false

    /// Of each discontinuity, seconds from the beginning.
    public private(set) var breaks: [Double] = []
    public var discontinuities: Int { breaks.count }

    private var seconds = 0.0
    private var values: [String: [String]] = [:]
    private var targetDuration = 0
    private var duration: Double?
    /// Seconds of segments since the last date.
    private var sinceDate = 0.0
    private var lastDate: Date?
    /// Nothing since the last discontinuity belongs to a segment yet.
    private var isAnew = true

    public init(_ text: String) {
        if !text.hasSuffix("\n") { broken.append("§4.1: the last line is not ended") }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        if lines.first != "#EXTM3U" { broken.append("§4.3.1.1: EXTM3U is not the first line") }
        for line in lines { look(at: line) }
        if duration != nil { broken.append("§4.3.2.1: an EXTINF without a segment") }
        judgeWhole()
    }

    /// Of what is said of the whole playlist.
    private mutating func judgeWhole() {
        for tag in ["#EXT-X-VERSION", "#EXT-X-TARGETDURATION", "#EXT-X-PLAYLIST-TYPE", "#EXT-X-MEDIA-SEQUENCE"]
        where values[tag]?.count != 1 {
            broken.append("§4.3: \(tag) does not stand there once")
        }
        let version = values["#EXT-X-VERSION"]?.first.flatMap { Int($0) } ?? 0
        if !maps.isEmpty, version < 6 { broken.append("§7: EXT-X-MAP needs version 6, and it is \(version)") }
        if version < 3 { broken.append("§7: durations with a point need version 3, and it is \(version)") }
        if values["#EXT-X-MEDIA-SEQUENCE"]?.first != "0" {
            broken.append("§4.3.3.2: nothing is ever taken away, so that it begins with 0")
        }
        let type = values["#EXT-X-PLAYLIST-TYPE"]?.first ?? ""
        if !["EVENT", "VOD"].contains(type) { broken.append("§4.3.3.5: the type is \(type)") }
        if isOver != (type == "VOD") { broken.append("§4.3.3.5: it is \(type), and \(isOver ? "ends" : "does not end")") }
        if dates.isEmpty, !uris.isEmpty { broken.append("§4.3.2.6: nobody says when it was") }
    }

    private mutating func look(at line: String) {
        let value = line.firstIndex(of: ":").map { String(line[line.index(after: $0)...]) } ?? ""
        let tag = String(line.prefix { $0 != ":" })
        if isOver { broken.append("§4.3.3.4: \(line) comes after the end") }
        switch tag {
        case "#EXTM3U": break
        case "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-VERSION", "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-PLAYLIST-TYPE",
            "#EXT-X-TARGETDURATION":
            if !uris.isEmpty { broken.append("§4.3.3: \(tag) comes after a segment") }
            values[tag, default: []].append(value)
            if tag == "#EXT-X-TARGETDURATION" { targetDuration = Int(value) ?? 0 }
        case "#EXT-X-DISCONTINUITY":
            breaks.append(seconds)
            isAnew = true
        case "#EXT-X-MAP": addMap(value)
        case "#EXT-X-PROGRAM-DATE-TIME": addDate(value)
        case "#EXTINF": readDuration(value)
        case "#EXT-X-ENDLIST": isOver = true
        default: line.hasPrefix("#") ? broken.append("§4.3: unknown: \(line)") : addSegment(line)
        }
    }

    private mutating func addMap(_ value: String) {
        if !value.hasPrefix("URI=\"") || !value.hasSuffix("\"") { broken.append("§4.3.2.5: EXT-X-MAP:\(value)") }
        if !isAnew, value != maps.last { broken.append("§4.3.2.3: \(value) comes without a discontinuity") }
        maps.append(value)
    }

    /// Whole to the millisecond, and not before the segments since the last one can have been played; `slack` is for clocks of
    /// encoders.
    private mutating func addDate(_ value: String) {
        dates.append(value)
        guard value.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil,
            let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(value)
        else { return broken.append("§4.3.2.6: \(value) is no time to the millisecond") }
        if let lastDate, date.timeIntervalSince(lastDate) < sinceDate - Self.slack {
            broken.append("§4.3.2.6: \(value) comes \(sinceDate) s of media after \(lastDate)")
        }
        (lastDate, sinceDate) = (date, 0)
    }

    private mutating func readDuration(_ value: String) {
        guard value.hasSuffix(","), let seconds = Double(value.dropLast()), seconds > 0 else {
            return broken.append("§4.3.2.1: EXTINF:\(value)")
        }
        duration = seconds
        if Int(seconds.rounded()) > targetDuration { broken.append("§4.3.3.1: \(seconds) s is over the target duration") }
    }

    private mutating func addSegment(_ uri: String) {
        if uri.isEmpty { broken.append("§4.1: an empty line") }
        if duration == nil { broken.append("§4.3.2.1: \(uri) has no EXTINF") }
        if maps.isEmpty { broken.append("§4.3.2.5: \(uri) has no initialization segment") }
        if uris.contains(uri) { broken.append("\(uri) stands there twice") }
        uris.append(uri)
        seconds += duration ?? 0
        sinceDate += duration ?? 0
        (duration, isAnew) = (nil, false)
    }

    /// Seconds.
    private static let slack = 1.0
}
