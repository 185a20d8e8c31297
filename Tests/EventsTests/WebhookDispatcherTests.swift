import EventLoop
import JSON
import OpenSSL
import Settings
import Store
import Testing
import Wire

@testable import Events

@Suite("Webhooks")
struct WebhookDispatcherTests {
    @Test
    func `a webhook gets each event once more until it takes it`() throws {
        let bench = try EventsBench()
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
}
