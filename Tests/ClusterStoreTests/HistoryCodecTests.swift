import Store
import TestSupport
import Testing
import Wire

@testable import ClusterStore

@Suite("History as Redis keeps it")
struct HistoryCodecTests {
    private static let participant: Participant = {
        var client = ClientAttributes()
        (client.browserName, client.browserVersion, client.osName) = ("Chrome", "120.0", "Linux")
        var participant = Participant(
            .init("p", ofStage: "arn:stage/one", sessionID: "st-1"), userID: "u \"1\"", attributes: ["k": "v/ü"],
            firstJoinTime: WallTime(nanosecondsSince1970: 1_800_000_000_123_456_789), ingestProtocol: "RTMPS",
            ingestConfigurationARN: "arn:c", client: client)
        (participant.isConnected, participant.published) = (true, true)
        return participant
    }()

    private static let record = """
        {"generation":"7","closed":"0","connected":true,"published":true,"about":\(HistoryCodec.encode(participant))}
        """

    private static func decode(_ text: String) -> Participant? {
        HistoryCodec.participant(text, .init("p", ofStage: "arn:stage/one", sessionID: "st-1"))
    }

    private static let events = [ParticipantEvent.Name.joined, .publishError, .publishWarning, .recordingEnded].map { name in
        var event = ParticipantEvent(
            name: name, time: WallTime(nanosecondsSince1970: 1_800_000_000_123_456_789),
            of: .init("p", ofStage: "arn:stage/one", sessionID: "st-1"), userID: "u\n",
            errorCode: name == .publishError ? "QUOTA" : "", generation: 1_800_000_000_123)
        if name == .recordingEnded { event.recording = .init(bucketName: "b", prefix: "one/st-1/p/t", duration: 7) }
        if name == .publishWarning { (event.rule, event.sentence) = ("gop", "Every 2 s.") }
        return event
    }

    @Test
    func `a participant reads back as it was written`() { #expect(Self.decode(Self.record) == Self.participant) }

    @Test(arguments: events)
    func `an event reads back as it was written, alone or in its participant's list`(event: ParticipantEvent) {
        var expected = event
        expected.sequence = 5
        #expect(HistoryCodec.event(HistoryCodec.encode(event, isWhole: true), sequence: 5) == expected)
        let short = HistoryCodec.encode(event, isWhole: false)
        #expect(!short.contains("arn:stage/one"))
        let read = HistoryCodec.event(
            short, sequence: 5, of: .init("p", ofStage: "arn:stage/one", sessionID: "st-1"))
        #expect(read == expected)
    }

    /// No gateway writes such a time.
    @Test(arguments: ["-1", "-9223372036854775808"])
    func `what was before 1970 was not`(time: String) {
        let written = "1800000000123456789"
        let event = HistoryCodec.encode(Self.events[0], isWhole: true)
        #expect(event.contains(written) && Self.record.contains(written))
        #expect(HistoryCodec.event(event.replacing(written, with: time), sequence: 1) == nil)
        #expect(Self.decode(Self.record.replacing(written, with: time)) == nil)
    }

    @Test
    func `no prefix is anything`() {
        for length in 0..<Self.record.count { #expect(Self.decode(String(Self.record.prefix(length))) == nil) }
        let event = HistoryCodec.encode(Self.events[0], isWhole: true)
        for length in 0..<event.count { #expect(HistoryCodec.event(String(event.prefix(length)), sequence: 1) == nil) }
    }

    @Test
    func `changed bytes are read as something or as nothing`() {
        var random = SplitMix64(seed: 11)
        for text in [Self.record, HistoryCodec.encode(Self.events[2], isWhole: true)] {
            for _ in 0..<5_000 {
                var bytes = Array(text.utf8)
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
                }
                let changed = String(decoding: bytes, as: UTF8.self)
                _ = Self.decode(changed)
                _ = HistoryCodec.event(changed, sequence: 1)
            }
        }
    }
}
