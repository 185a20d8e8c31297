import Admission
import EventLoop
import HTTP
import HandoverCodec
import Refusals
import Settings
import Sockets
import TestSupport
import Testing
import Wire

@testable import Handover
@testable import MediaContract
@testable import Store

/// No internal channel closes by what a peer sends: each kind of message, as large as peers can make it, goes through.
@Suite("Hand-over messages at their largest")
struct MessageSizeTests {
    /// The characters that take most: four bytes of UTF-8, and one that JSON writes as six.
    static let characters: [Character] = ["😀", "\u{1}"]

    @Test(arguments: characters)
    func `goes through the channel, and is told as it was`(character: Character) throws {
        let loop = try EventLoop()
        let (a, b) = try DescriptorMessage.makePair()
        let (near, far) = (HandoverChannel(loop: loop, descriptor: a), HandoverChannel(loop: loop, descriptor: b))
        var received: [[UInt8]] = []
        far.onMessage = { message, _ in received.append(MessageCodec.encode(message) ?? []) }
        let messages = largest(character)
        for message in messages {
            let encoded = try #require(MessageCodec.encode(message), "\(Self.name(message)) is too long")
            // Whatever was forgotten here has room as well.
            #expect(encoded.count * 2 <= MessageCodec.maximumLength, "\(Self.name(message)): \(encoded.count) bytes")
            #expect(near.send(message))
        }
        #expect(loop.run(until: { received.count == messages.count }, within: .seconds(60)))
        // A set in it is written in any order: the same bytes, wherever they stand.
        let areEqual = received.map(Self.byteCounts) == messages.map { Self.byteCounts(MessageCodec.encode($0) ?? []) }
        #expect(areEqual)
        #expect(!near.isClosed && !far.isClosed)
    }

    /// How often each byte occurs.
    private static func byteCounts(_ bytes: [UInt8]) -> [Int] {
        bytes.reduce(into: [Int](repeating: 0, count: 256)) { $0[Int($1)] += 1 }
    }

    @Test func `a list of any length goes through`() throws {
        let loop = try EventLoop()
        let (a, b) = try DescriptorMessage.makePair()
        let (near, far) = (HandoverChannel(loop: loop, descriptor: a), HandoverChannel(loop: loop, descriptor: b))
        var count = 0
        far.onMessage = { message, _ in if case .history(let writes) = message { count += writes.count } }
        near.send((0..<2_000).map { _ in history("😀") }) { .history($0) }
        #expect(loop.run(until: { count == 2_000 }, within: .seconds(120)))
        #expect(!near.isClosed && !far.isClosed)
    }

    @Test func `what is changed on the way is a message or none`() throws {
        var random = SplitMix64(seed: 3)
        for message in largest("x") {
            let encoded = try #require(MessageCodec.encode(message))
            for _ in 0..<(encoded.count < 100_000 ? 100 : 10) {
                var bytes = encoded
                for _ in 0..<4 { bytes[.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random) }
                guard let read = try? MessageCodec.decode(HandoverMessage.self, from: bytes) else { continue }
                #expect(MessageCodec.encode(read) != nil)
            }
        }
    }

    @Test func `what is too long goes nowhere, and closes nothing`() throws {
        let loop = try EventLoop()
        let (a, b) = try DescriptorMessage.makePair()
        let (near, far) = (HandoverChannel(loop: loop, descriptor: a), HandoverChannel(loop: loop, descriptor: b))
        var request = largestRequest
        request.body = [UInt8](repeating: 0xFF, count: MessageCodec.maximumLength)
        #expect(!near.send(.request(number: 1, HandedRequest(request))))
        var isThere = false
        far.onMessage = { message, _ in if case .left = message { isThere = true } }
        #expect(near.send(.left) && loop.run(until: { isThere }, within: .seconds(120)))
    }

    /// Every kind that a peer, or who manages stages, can make large. What is of fixed size is told at the end.
    private func largest(_ character: Character) -> [HandoverMessage] {
        let entries = HandoverChannel.entriesPerMessage
        let (lease, request) = (lease, largestRequest)
        return [
            .request(number: .max, HandedRequest(request)),
            .response(number: .max, HandedResponse(HTTPResponse(.ok, headers: request.headers, body: request.body))),
            .lease(handedLease(character)),
            .history((0..<entries).map { _ in history(character) }),
            .refusal(refusal(character)),
            .sessions((0..<entries).map { _ in PeerBytes([UInt8](repeating: 0x22, count: 16 * 1024)) }, isLast: false),
            .end(lease, .disconnected(Refusal(.participantDisconnected, sentence: text(character, 1_024)))),
            .progress((0..<entries).map { _ in HolderProgress(lease: lease, nanoseconds: .max) }),
            .living((0..<entries).map { _ in LivingParticipant(sessionID: text("s", 16), participantID: text("p", 64)) }),
            .reservation(PortReservation(router: text(character, 256), owner: text("o", 256), port: .max)),
            .placements(
                (0..<entries).map { _ in
                    HandedPlacement(stageID: text("s", 12), replica: .max, router: text(character, 256), generation: 1 << 53 - 1)
                }),
            .refused(text(character, 1_024)), .released(lease), .left, .terminate, .succeeded(true), .predecessors(.max),
        ]
    }

    private var largestRequest: HTTPRequest {
        let path = "/whip/sessions/n1-0-" + text("a", 48)
        guard let target = HTTPRequestTarget(path) else { preconditionFailure("a path") }
        var headers = HTTPHeaders()
        for number in 0..<100 { headers.add("x-\(number)", text("\u{7F}", 160)) }
        return HTTPRequest(
            method: .patch, target: target, rawTarget: path, headers: headers, body: [UInt8](repeating: 0xFF, count: 65_536))
    }

    private var lease: PublishLease {
        PublishLease(
            participantID: text("p", 64), stageID: text("s", 12), stageSessionID: text("t", 16), generation: 1 << 53 - 1)
    }

    private func handedLease(_ character: Character) -> HandedLease {
        let arn = "arn:aws:ivs:us-east-1:000000000000:stage/" + text("s", 12)
        // 50 tags of 128 and 256 characters each, attributes of 1 KiB in all.
        let tags = (0..<50).map { (text(character, 126) + "\($0 / 10)\($0 % 10)", text(character, 256)) }
        var grant = PublishGrant(
            participantID: text("p", 64), stageARN: arn, stageID: text("s", 12), userID: text(character, 128),
            attributes: [text(character, 128): text(character, 256)], stageTags: Dictionary(uniqueKeysWithValues: tags),
            credentialHash: text("f", 64))
        grant.userAgent = text(character, 256)
        return HandedLease(
            lease: lease, grant: grant, ingestProtocol: .whip, joinedAt: WallTime(nanosecondsSince1970: .max), isAnnounced: true,
            isPublishing: true,
            session: StageSession(stageARN: arn, sessionID: text("t", 16), startTime: WallTime(nanosecondsSince1970: .max)),
            isSessionRecorded: true)
    }

    private func history(_ character: Character) -> HistoryWrite {
        let grant = handedLease(character).grant
        var client = ClientAttributes()
        (client.sdkVersion, client.osVersion) = (text("v", 128), text("v", 128))
        return .participant(
            Participant(
                .init(grant.participantID, ofStage: grant.stageARN, sessionID: text("t", 16)), userID: grant.userID,
                attributes: grant.attributes, firstJoinTime: WallTime(nanosecondsSince1970: .max), ingestProtocol: "RTMPS",
                ingestConfigurationARN: grant.stageARN, client: client))
    }

    private func refusal(_ character: Character) -> HandedRefusal {
        HandedRefusal(
            credential: text("f", 64), source: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", product: text(character, 256),
            rules: ContractSettings(), number: 1_042, sentence: text(character, 4_096), refusedAt: .max,
            violations: [Int64](repeating: .max, count: 16), barredUntil: .max, barCount: .max)
    }

    private func text(_ character: Character, _ count: Int) -> String { String(repeating: character, count: count) }
    private static func name(_ message: HandoverMessage) -> String { String("\(message)".prefix(24)) }
}
