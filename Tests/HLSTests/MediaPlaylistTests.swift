import HLS
import TestSupport
import Testing
import Wire

@Suite("Media playlists")
struct MediaPlaylistTests {
    static let start = WallTime(secondsSince1970: 1_704_110_455) + .milliseconds(123)

    static func segment(
        _ number: Int, _ duration: Duration = .seconds(6), map: Int = 0, isDiscontinuous: Bool = false,
        isIndependent: Bool = true
    ) -> MediaPlaylist.Segment {
        MediaPlaylist.Segment(
            uri: "\(number).mp4", duration: duration, map: "init-\(map).mp4", isDiscontinuous: isDiscontinuous,
            programDateTime: start + .seconds(6 * (number - 1)), isIndependent: isIndependent)
    }

    @Test
    func `read as an EVENT while they grow`() {
        var playlist = MediaPlaylist(plannedTargetDuration: 12)
        for segment in [Self.segment(1), Self.segment(2, .nanoseconds(3_300_914_000))] { playlist.append(segment) }
        #expect(
            playlist.text == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:12
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-PLAYLIST-TYPE:EVENT
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MAP:URI="init-0.mp4"
                #EXT-X-PROGRAM-DATE-TIME:2024-01-01T12:00:55.123Z
                #EXTINF:6.00000,
                1.mp4
                #EXTINF:3.30091,
                2.mp4

                """)
    }

    @Test
    func `read as VOD when they are over, with a new beginning after a discontinuity`() {
        var playlist = MediaPlaylist(plannedTargetDuration: 12)
        for segment in [Self.segment(1), Self.segment(2, map: 1, isDiscontinuous: true)] { playlist.append(segment) }
        playlist.hasEnded = true
        #expect(
            playlist.text == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:12
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MAP:URI="init-0.mp4"
                #EXT-X-PROGRAM-DATE-TIME:2024-01-01T12:00:55.123Z
                #EXTINF:6.00000,
                1.mp4
                #EXT-X-DISCONTINUITY
                #EXT-X-MAP:URI="init-1.mp4"
                #EXT-X-PROGRAM-DATE-TIME:2024-01-01T12:01:01.123Z
                #EXTINF:6.00000,
                2.mp4
                #EXT-X-ENDLIST

                """)
    }

    /// Name, segments, and how many discontinuities a client counts.
    @Test(
        arguments: [
            ("nothing yet", [], 0),
            ("keyframes every 8.3 s", [segment(1, .milliseconds(8_300)), segment(2, .milliseconds(8_300))], 0),
            ("no keyframe for a minute", [segment(1, .seconds(60)), segment(2, isIndependent: false)], 0),
            ("a rounded half", [segment(1, .milliseconds(12_500))], 0),
            ("two encoders", [segment(1), segment(2, map: 1, isDiscontinuous: true), segment(3, map: 1)], 1),
            ("a jump of the same encoder", [segment(1), segment(2, isDiscontinuous: true)], 1),
            ("a discontinuity before everything", [segment(1, isDiscontinuous: true)], 0),
            ("a hundredth", [segment(1, .milliseconds(10))], 0),
        ] as [(String, [MediaPlaylist.Segment], Int)])
    func `keep RFC 8216's rules`(_ name: String, _ segments: [MediaPlaylist.Segment], _ discontinuities: Int) {
        var playlist = MediaPlaylist(plannedTargetDuration: 12)
        for segment in segments { playlist.append(segment) }
        for hasEnded in [false, true] {
            playlist.hasEnded = hasEnded
            let rules = PlaylistRules(playlist.text)
            #expect(rules.broken == [], "\(name)")
            #expect(rules.uris == segments.map(\.uri))
            #expect((rules.discontinuities, rules.isOver) == (discontinuities, hasEnded))
            #expect(rules.dates.count == (segments.isEmpty ? 0 : 1 + discontinuities))
        }
    }

    /// The journal of an earlier version may have such a segment.
    @Test(arguments: [-50, -400, -60_000])
    func `have no segment that lasts less than nothing`(_ milliseconds: Int) {
        var playlist = MediaPlaylist(plannedTargetDuration: 12)
        for segment in [Self.segment(1), Self.segment(2, .milliseconds(milliseconds))] { playlist.append(segment) }
        #expect(playlist.text.contains("#EXTINF:0.00000,\n2.mp4\n"))
    }

    @Test
    func `only grow while they run`() {
        var playlist = MediaPlaylist(plannedTargetDuration: 12)
        var former = playlist.text
        for number in 1...20 {
            playlist.append(Self.segment(number, map: number / 7, isDiscontinuous: number % 7 == 0))
            #expect(playlist.text.hasPrefix(former))
            former = playlist.text
        }
    }
}

/// Each rule is seen to refuse: what is put in place of a line of a playlist that keeps them all.
@Suite("The rules of playlists")
struct PlaylistRulesTests {
    static let good = """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-TARGETDURATION:12
        #EXT-X-MEDIA-SEQUENCE:0
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXT-X-MAP:URI="init-0.mp4"
        #EXT-X-PROGRAM-DATE-TIME:2024-01-01T12:00:55.123Z
        #EXTINF:6.00000,
        1.mp4
        #EXT-X-DISCONTINUITY
        #EXT-X-MAP:URI="init-1.mp4"
        #EXT-X-PROGRAM-DATE-TIME:2024-01-01T12:01:01.123Z
        #EXTINF:6.00000,
        2.mp4
        #EXT-X-ENDLIST

        """

    @Test(
        arguments: [
            ("#EXTM3U\n", "", "§4.3.1.1"),
            ("#EXT-X-VERSION:7", "#EXT-X-VERSION:5", "§7"),
            ("#EXT-X-VERSION:7\n", "", "§4.3: "),
            ("#EXT-X-TARGETDURATION:12", "#EXT-X-TARGETDURATION:5", "§4.3.3.1"),
            ("#EXTINF:6.00000,\n1.mp4", "#EXTINF:12.50000,\n1.mp4", "§4.3.3.1"),
            ("#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-MEDIA-SEQUENCE:3", "§4.3.3.2"),
            ("2.mp4\n", "2.mp4\n#EXT-X-MEDIA-SEQUENCE:0\n", "§4.3.3: "),
            ("TYPE:VOD", "TYPE:EVENT", "§4.3.3.5"),
            ("TYPE:VOD", "TYPE:LIVE", "§4.3.3.5"),
            ("#EXT-X-ENDLIST\n", "", "§4.3.3.5"),
            ("#EXT-X-ENDLIST\n", "#EXT-X-ENDLIST\n#EXTINF:6.00000,\n3.mp4\n", "§4.3.3.4"),
            ("#EXT-X-MAP:URI=\"init-0.mp4\"\n", "", "§4.3.2.5"),
            ("URI=\"init-0.mp4\"", "init-0.mp4", "§4.3.2.5"),
            ("#EXT-X-DISCONTINUITY\n", "", "§4.3.2.3"),
            ("12:00:55.123Z", "12:00:55Z", "§4.3.2.6"),
            ("12:01:01.123Z", "12:00:59.123Z", "§4.3.2.6"),
            ("#EXTINF:6.00000,\n2", "2", "§4.3.2.1"),
            ("#EXTINF:6.00000,\n2.mp4\n", "#EXTINF:6.00000,\n", "§4.3.2.1"),
            ("#EXTINF:6.00000,\n2", "#EXTINF:0,\n2", "§4.3.2.1"),
            ("2.mp4", "1.mp4", "1.mp4 stands there twice"),
            ("#EXT-X-ENDLIST", "#EXT-X-END", "§4.3: unknown"),
            ("2.mp4\n", "2.mp4\n\n", "§4.1"),
            ("#EXT-X-ENDLIST\n", "#EXT-X-ENDLIST", "§4.1"),
        ])
    func `refuse what breaks one`(_ line: String, _ bad: String, _ words: String) {
        #expect(PlaylistRules(Self.good).broken == [])
        #expect(Self.good.contains(line))
        let broken = PlaylistRules(Self.good.replacing(line, with: bad, maxReplacements: 1)).broken
        #expect(broken.contains { $0.hasPrefix(words) }, "\(broken)")
    }
}

@Suite("Multivariant playlists")
struct MultivariantPlaylistTests {
    @Test
    func `name the rendition with all that a player asks before it loads it`() {
        let variant = MultivariantPlaylist.Variant(
            uri: "high/playlist.m3u8", peakBitsPerSecond: 2_700_000, averageBitsPerSecond: 2_500_000,
            codecs: "avc1.42e01f,mp4a.40.2", resolution: .init(width: 1280, height: 720))
        #expect(
            MultivariantPlaylist(variants: [variant]).text == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-STREAM-INF:BANDWIDTH=2700000,AVERAGE-BANDWIDTH=2500000,CODECS="avc1.42e01f,mp4a.40.2",RESOLUTION=1280x720
                high/playlist.m3u8

                """)
    }

    @Test
    func `leave out what nobody knows`() {
        let variant = MultivariantPlaylist.Variant(uri: "high/playlist.m3u8", peakBitsPerSecond: 0, codecs: "opus")
        #expect(
            MultivariantPlaylist(variants: [variant]).text
                == "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"opus\"\nhigh/playlist.m3u8\n")
    }
}
