import Admission
import EventLoop
import Foundation
import HTTP
import JSON
import OpenSSL
import Refusals
import Settings
import Store
import Testing
import Wire

@testable import Events

/// A store whose events wake what the test made of it.
private final class Bench {
    let path = NSTemporaryDirectory() + "/stagedoor-events-" + UUID().uuidString
    let loop: EventLoop
    let store: EmbeddedStore
    private(set) var onNews: () -> Void = {}
    private var mailbox: Mailbox<Void>?

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        loop = try EventLoop()
        let sender = Lock<MailboxSender<Void>?>(nil)
        store = try EmbeddedStore(
            directory: path, webhooks: ["hook"], onEvents: { _ in _ = sender.withLock { $0 }?.send(()) })
        mailbox = try Mailbox(loop: loop) { [unowned self] in onNews() }
        let made = mailbox?.sender
        sender.withLock { $0 = made }
    }

    deinit {
        store.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    func whenever(_ body: @escaping () -> Void) { onNews = body }

    func record(_ name: ParticipantEvent.Name, of participant: String, code: String = "") {
        store.record([
            .event(
                ParticipantEvent(
                    name: name, time: WallTime(secondsSince1970: 1_800_000_000), stageARN: "arn:aws:ivs:us-east-1:0:stage/s",
                    sessionID: "st-1234567890123", participantID: participant, userID: "u", errorCode: code))
        ])
    }

    /// Asks again every few milliseconds, for what other threads do.
    func wait(_ isDone: () -> Bool) -> Bool {
        let tick = loop.schedule(after: .milliseconds(5), repeating: .milliseconds(5)) {}
        defer { tick.cancel() }
        return loop.run(until: isDone, within: .seconds(60))
    }
}

@Suite("Events out")
struct EventDeliveryTests {
    @Test
    func `the envelope is EventBridge's`() throws {
        var event = ParticipantEvent(
            name: .publishError, time: WallTime(nanosecondsSince1970: 1_723_559_897_089_061_676),
            stageARN: "arn:aws:ivs:x:1:stage/s",
            sessionID: "st-1", participantID: "p", userID: "", errorCode: "BITRATE_EXCEEDED")
        event.sequence = 7
        let encoder = EventBridgeEncoder(names: ResourceName(region: "us-west-2", account: "123456789012"))
        let json = try #require(encoder.encode(event))
        #expect(json["version"] == "0")
        #expect(json["source"] == "aws.ivs")
        #expect(json["detail-type"] == "IVS Stage Update")
        #expect(json["time"] == "2024-08-13T14:38:17Z")
        #expect(json["resources"] == ["arn:aws:ivs:x:1:stage/s"])
        #expect(json["id"]?.string?.count == 36)
        #expect(
            json["detail"]
                == [
                    "session_id": "st-1", "event_name": "Participant Publish Error", "event_time": "2024-08-13T14:38:17.089Z",
                    "user_id": "", "participant_id": "p", "error_code": "BITRATE_EXCEEDED",
                ])
        #expect(encoder.encode(event)?["id"] == json["id"], "a repetition has the same id")
        (event.name, event.errorCode, event.rule, event.sentence) = (.publishWarning, "", "frameRate", "5 frames a second")
        let detail = encoder.encode(event)?["detail"]
        #expect(detail?["event_name"] == "Participant Publish Warning")
        #expect(detail?["rule"] == "frameRate" && detail?["message"] == "5 frames a second")
        event.name = .joined
        #expect(encoder.encode(event) == nil)
    }

    @Test
    func `a webhook gets each event once more until it takes it`() throws {
        let bench = try Bench()
        var taken: [String] = []
        var tries = 0
        var settings = WebhookSettings()
        settings.secret = Secret("key")
        let dispatcher = try WebhookDispatcher(
            loop: bench.loop, name: "hook", settings: settings, names: ResourceName(), store: bench.store,
            wallNow: { WallTime(secondsSince1970: 5) }
        ) { headers, body, done in
            tries += 1
            guard tries != 1 else { return done(500) }
            let signature = HMAC.sha256(key: Array("key".utf8), Array("5.".utf8) + body)
            let value = "t=5,v1=\(String(hexadecimal: signature))"
            #expect(headers.contains { $0.name == "Stagedoor-Signature" && $0.value == value })
            taken.append((try? JSONValue(parsing: body))?["detail"]?["event_name"]?.string ?? "")
            done(204)
        }
        bench.whenever { dispatcher.wake() }
        for name in [.joined, .publishStarted, .publishStopped, .left] as [ParticipantEvent.Name] { bench.record(name, of: "p") }
        #expect(bench.wait { taken.count == 2 })
        #expect(taken == ["Participant Published", "Participant Unpublished"])
        let left = Lock<Int?>(nil)
        bench.store.read {
            try $0.undelivered(to: "hook", limit: 10).count
        } reply: { result in
            let count = try? result.get()
            left.withLock { $0 = count }
        }
        #expect(bench.wait { left.withLock { $0 != nil } })
        #expect(left.withLock { $0 } == 0)
    }

    @Test
    func `a reader goes on after its last event`() throws {
        let bench = try Bench()
        let hub = try EventStreamHub(loop: bench.loop, store: bench.store, names: ResourceName())
        bench.whenever { hub.wake() }
        for participant in ["a", "b", "c"] { bench.record(.publishStarted, of: participant) }
        var seen: [ServerSentEvent] = []
        let first = hub.subscribe(lastEventID: "1") { seen.append($0) }
        #expect(bench.wait { seen.count == 2 })
        #expect(seen.map(\.id) == ["2", "3"])
        bench.record(.publishStopped, of: "a")
        #expect(bench.wait { seen.count == 3 })
        #expect(seen.last?.data.contains("Participant Unpublished") == true)
        withExtendedLifetime(first) {}
    }

    @Test
    func `a reader without a last event sees what happens from now on`() throws {
        let bench = try Bench()
        let hub = try EventStreamHub(loop: bench.loop, store: bench.store, names: ResourceName())
        bench.record(.publishStarted, of: "old")
        var seen: [ServerSentEvent] = []
        let subscription = hub.subscribe(lastEventID: nil) { seen.append($0) }
        _ = bench.loop.run(until: { false }, within: .milliseconds(200))
        bench.whenever { hub.wake() }
        bench.record(.publishStarted, of: "new")
        #expect(bench.wait { seen.count == 1 })
        #expect(seen.first?.id == "2")
        withExtendedLifetime(subscription) {}
    }
}
