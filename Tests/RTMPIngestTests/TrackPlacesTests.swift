import FLV
import H264
import Testing

@testable import RTMPIngest

@Suite("Places of an encoder's tracks")
struct TrackPlacesTests {
    private static let hd = PictureSize(width: 1_280, height: 720)

    private func places(_ sizes: [UInt8: PictureSize?]) -> TrackPlaces {
        var places = TrackPlaces()
        for (id, size) in sizes.sorted(by: { $0.key < $1.key }) { places.configured(id, size) }
        return places
    }

    @Test func `are given in the order in which tracks become decodable, and the first is track 0's`() {
        var places = TrackPlaces()
        places.configured(2, PictureSize(width: 640, height: 360))
        #expect(places.place(of: 2) == nil && places.passedOver.isEmpty, "It waits for the canvas")
        places.configured(0, Self.hd)
        #expect(places.place(of: 0) == 0 && places.place(of: 2) == 1)
        places.configured(1, PictureSize(width: 320, height: 180))
        #expect(places.place(of: 1) == 2)
        places.configured(1, PictureSize(width: 480, height: 270))
        #expect(places.place(of: 1) == 2, "A new size keeps the place")
    }

    /// The canvas is 16:9; 1.691 to 1.866 is within a twentieth of it.
    @Test(
        arguments: [
            (PictureSize(width: 640, height: 360), true), (PictureSize(width: 426, height: 240), true),
            (PictureSize(width: 852, height: 480), true), (PictureSize(width: 720, height: 1_280), false),
            (PictureSize(width: 640, height: 480), false), (PictureSize(width: 1_690, height: 1_000), true),
            (PictureSize(width: 1_680, height: 1_000), false), (PictureSize(width: 1_860, height: 1_000), true),
            (PictureSize(width: 1_870, height: 1_000), false),
        ])
    func `are for pictures of the canvas's shape`(_ size: PictureSize, _ isLayer: Bool) {
        let places = places([0: Self.hd, 1: size])
        #expect((places.place(of: 1) != nil) == isLayer)
        #expect(places.passedOver == (isLayer ? [] : [.init(id: 1, reason: .shape(size))]))
    }

    @Test func `follow the canvas when it turns`() {
        let upright = PictureSize(width: 720, height: 1_280)
        var places = places([0: Self.hd, 1: PictureSize(width: 640, height: 360), 2: upright])
        places.configured(0, upright)
        #expect([0, 1, 2].map { places.place(of: $0) } == [0, nil, 1])
        #expect(places.passedOver == [.init(id: 1, reason: .shape(PictureSize(width: 640, height: 360)))])
    }

    @Test func `are lost to another codec, and come back with H264`() {
        let size = PictureSize(width: 640, height: 360)
        var places = places([0: Self.hd, 1: size])
        places.refused(1, codec: "AV1")
        #expect(places.place(of: 1) == nil && places.passedOver == [.init(id: 1, reason: .codec("AV1"))])
        places.configured(1, size)
        #expect(places.place(of: 1) == 1 && places.passedOver.isEmpty)
    }

    @Test func `track 0 has one whatever its parameter sets say, others need a size`() {
        let places = places([0: nil, 1: Self.hd])
        #expect(places.place(of: 0) == 0 && places.place(of: 1) == nil)
    }

    private static let ladder = (UInt8(0)..<5).reduce(into: [:]) { $0[$1] = PictureSize(width: 1_280, height: 720) }

    /// Bytes a second by track: who has a place after four seconds.
    @Test(
        arguments: [
            ([5, 4, 3, 2, 1], [0, 1, 2, nil, nil]), ([1, 2, 3, 4, 5], [nil, nil, 2, 0, 1]),
            ([5, 1, 4, 3, 2], [0, nil, 2, 1, nil]), ([3, 3, 3, 3, 3], [0, 1, 2, nil, nil]),
            ([0, 1, 2, 3, 4], [0, nil, nil, 1, 2]), ([0, 0, 0, 9, 9], [0, 1, 2, nil, nil]),
            ([5, 4, 3, 0, 0], [0, 1, 2, nil, nil]),
        ] as [([Int], [UInt8?])])
    func `of more than three go to the highest bitrates, and those that are silent keep theirs`(
        _ rates: [Int], _ expected: [UInt8?]
    ) {
        var places = places(Self.ladder)
        #expect((0..<5).map { places.place(of: $0) } == [0, 1, 2, nil, nil])
        for _ in 0..<4 {
            #expect(places.isContested)
            for (id, rate) in rates.enumerated() { places.received(rate * 1_000, of: UInt8(id)) }
            _ = places.secondPassed()
        }
        #expect(!places.isContested)
        #expect((0..<5).map { places.place(of: $0) } == expected)
        let left = expected.indices.filter { expected[$0] == nil }
        #expect(places.passedOver.map { Int($0.id) } == left)
        let isDecidedAgain = places.secondPassed()
        #expect(!isDecidedAgain)
    }

    @Test func `follow ten tracks`() {
        var places = TrackPlaces()
        for id in 0..<UInt8(20) { places.configured(id, Self.hd) }
        #expect(places.passedOver.isEmpty, "It is not decided")
        while places.isContested { _ = places.secondPassed() }
        #expect(places.passedOver.map(\.id) == Array(3..<10))
    }
}

@Suite("The sentence of tracks that are not forwarded")
struct PassedOverTracksTests {
    @Test func `names each and why`() {
        var tracks = PassedOverTracks()
        tracks.video = [
            .init(id: 2, reason: .codec("HEVC (H.265)")), .init(id: 3, reason: .shape(PictureSize(width: 720, height: 1_280))),
            .init(id: 4, reason: .rank(PictureSize(width: 320, height: 180))),
        ]
        tracks.audio = [.init(id: 1, codec: .aac)]
        tracks.hasFurther = true
        let sentence = tracks.sentence(nil)
        #expect(
            sentence == """
                Not forwarded: video track 2 (HEVC (H.265)): layers are H.264; video track 3 (720x1280): its shape is not that of \
                track 0; video track 4 (320x180): there are three layers of higher bitrates; audio track 1 (AAC): one track of \
                audio is taken; tracks beyond ten of a kind.
                """)
    }
}
