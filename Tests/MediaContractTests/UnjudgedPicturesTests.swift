import MediaContract
import Refusals
import Settings
import TestSupport
import Testing

/// Pictures of which nothing can be judged, because packets cut where no encoder cuts, and come in disorder.
@Suite("Pictures that cannot be judged")
struct UnjudgedPicturesTests {
    private static let sets: [[UInt8]] = {
        var pps = PPSBuilder()
        pps.id = 40
        return [SPSBuilder().bytes, pps.bytes]
    }()

    /// Its header has three bytes.
    private static let bSlice: [UInt8] = {
        var slice = SliceBuilder(type: 6)
        slice.pictureParameterSetID = 40
        return slice.bytes
    }()

    /// A unit in three fragments.
    /// - Parameter count: bytes of the first one, behind the NAL unit's header.
    private static func fragments(of unit: [UInt8], first count: Int = 1) -> [[UInt8]] {
        let middle = (1 + count + unit.count) / 2
        let parts: [(flag: UInt8, body: ArraySlice<UInt8>)] = [
            (0x80, unit[1..<1 + count]), (0, unit[(1 + count)..<middle]), (0x40, unit[middle...]),
        ]
        return parts.map { part in [unit[0] & 0xE0 | 28, part.flag | unit[0] & 0x1F] + part.body }
    }

    /// Three fragments, the second one before the first.
    private static func feedInDisorder(_ fragments: [[UInt8]], _ feeder: inout StreamFeeder) {
        feeder.lose()
        feeder.feed(payload: fragments[1])
        feeder.lose(-2)
        feeder.feed(payload: fragments[0])
        feeder.lose()
        feeder.feed(payload: fragments[2])
    }

    /// - Returns: after how many pictures there was news.
    private static func feed(
        _ feeder: inout StreamFeeder, pictures: Int, _ picture: (inout StreamFeeder) -> Void
    ) -> Int {
        for number in 0..<pictures {
            picture(&feeder)
            feeder.feed([])
            if !feeder.news.isEmpty { return number + 1 }
        }
        return pictures
    }

    @Test func `a slice header in three packets is put together while they come in order`() {
        var feeder = StreamFeeder(.singleUnits)
        feeder.feed(Self.sets)
        let count = Self.feed(&feeder, pictures: 60) { feeder in
            for fragment in Self.fragments(of: Self.bSlice) { feeder.feed(payload: fragment) }
        }
        #expect(feeder.faults == [.bFrames(count: nil)] && count == 1)
    }

    @Test func `slice headers in packets that overtake each other are refused when that goes on`() throws {
        var feeder = StreamFeeder(.singleUnits)
        feeder.feed(Self.sets)
        let count = Self.feed(&feeder, pictures: 2_000) { Self.feedInDisorder(Self.fragments(of: Self.bSlice), &$0) }
        #expect(feeder.faults == [.unjudgedPictures])
        #expect((900...950).contains(count), "\(count)")
        guard case .disconnect(let refusal, _)? = feeder.news.first else { return #expect(Bool(false), "\(feeder.news)") }
        #expect(refusal.code == .unreadableVideo)
        #expect(refusal.sentence.hasPrefix("pictures without readable slice headers and parameter sets (allowed: none): set "))
    }

    @Test(arguments: [1, 3])
    func `pictures that can be judged between them change nothing`(_ goodOnes: Int) {
        var feeder = StreamFeeder(.singleUnits)
        let stream = SyntheticStream()
        feeder.feed(stream.accessUnit(0) + Self.sets)
        let count = Self.feed(&feeder, pictures: 2_000) { feeder in
            for number in 1...goodOnes { feeder.feed(stream.accessUnit(number)) }
            Self.feedInDisorder(Self.fragments(of: Self.bSlice), &feeder)
        }
        #expect(feeder.faults == [.unjudgedPictures])
        #expect((900...1_100).contains(count), "\(count)")
    }

    @Test func `parameter sets in packets that overtake each other are refused when that goes on`() {
        var feeder = StreamFeeder(.singleUnits)
        feeder.feed([SPSBuilder().bytes])
        Self.feedInDisorder(Self.fragments(of: Self.sets[1]), &feeder)
        var slice = SliceBuilder()
        slice.pictureParameterSetID = 40
        let count = Self.feed(&feeder, pictures: 2_000) { $0.feed(payload: slice.bytes) }
        #expect(feeder.faults == [.unjudgedPictures])
        #expect((900...950).contains(count), "\(count)")
    }

    @Test func `so are slices without a header that can be read, by RTMP too`() {
        var feeder = StreamFeeder(.accessUnits)
        feeder.feed(SyntheticStream().accessUnit(0))
        for _ in 0..<2_000 where feeder.faults.isEmpty { feeder.feed([[0x41]]) }
        #expect(feeder.faults == [.unjudgedPictures])
    }

    private static let rulesOfPictures: [ContractRule] = [.videoCodec, .videoProfile, .bFrames, .maximumResolution]

    @Test(arguments: rulesOfPictures)
    func `one rule about pictures that warns makes it a warning, and none makes it nothing`(_ rule: ContractRule) {
        for (action, warned) in [(ContractAction.warn, [ContractFault.unjudgedPictures]), (.off, [])] {
            var rules = ContractSettings()
            for other in Self.rulesOfPictures { rules[other] = other == rule ? action : .off }
            var feeder = StreamFeeder(.singleUnits, rules: rules)
            feeder.feed(Self.sets)
            _ = Self.feed(&feeder, pictures: 1_000) { Self.feedInDisorder(Self.fragments(of: Self.bSlice), &$0) }
            #expect(feeder.faults.isEmpty && feeder.warnings.map(\.fault) == warned)
        }
    }

    /// Two minutes: one packet in twenty is overtaken by the next one, one in fifty never comes, a keyframe's sets among them.
    @Test func `a network that reorders and loses makes none`() {
        var stream = SyntheticStream()
        stream.firstMacroblocks = [0, 1_800]
        var (feeder, generator) = (StreamFeeder(.singleUnits), SplitMix64(seed: 11))
        for number in 0..<3_600 {
            var packets = stream.accessUnit(number).flatMap { unit in
                unit.count < 100 ? [unit] : Self.fragments(of: unit, first: 150)
            }
            while let packet = packets.first {
                packets.removeFirst()
                switch generator.next() % 100 {
                case 0..<2: feeder.lose()
                case 2..<7 where !packets.isEmpty:
                    feeder.lose()
                    feeder.feed(payload: packets.removeFirst())
                    feeder.lose(-2)
                    feeder.feed(payload: packet)
                    feeder.lose()
                default: feeder.feed(payload: packet)
                }
            }
            feeder.feed([])
        }
        #expect(feeder.news == [])
    }
}
