import HTTP
import JSON
import Refusals
import TestSupport
import Testing
import WebRTCTransport
import Wire

@testable import EmbeddedRouter
@testable import StageHub

@Suite("Layer choice by WHEP's extensions", .timeLimit(.minutes(10)))
struct LayerChoiceTests {
    private let site: WHEPSite

    init() throws { site = try WHEPSite() }

    @Test func `POST chooses by our name or the encoder's, DELETE leaves the choice to us`() throws {
        site.tell()
        let index = try #require(site.entry.desk.state.mediaIndex)
        let chosen = try site.answer("POST", "/layer", body: #"{"mediaId": "\#(index)", "encodingId": "mid"}"#)
        #expect(chosen.hasPrefix("HTTP/1.1 200 ") && chosen.contains(#""wish":"mid""#), "the answer tells of it already")
        #expect(site.entry.desk.wish == .layer(.mid))
        #expect(try site.answer("POST", "/layer", body: #"{"rid": "r2"}"#).hasPrefix("HTTP/1.1 200 "))
        #expect(site.entry.desk.wish == .layer(.hi))
        #expect(try site.answer("DELETE", "/layer").hasPrefix("HTTP/1.1 200 "))
        #expect(site.entry.desk.wish == .automatic)
        _ = try site.answer("POST", "/layer", body: #"{"encodingId": "low"}"#)
        _ = try site.answer("POST", "/layer", body: #"{"mediaId": \#(index)}"#)
        #expect(site.entry.desk.wish == .automatic, "without a name it is automatic again")
    }

    /// As OBS' are, 8.3 s apart; meanwhile feedback about sound tells what the way carries at least.
    @Test func `a viewer waits for its first keyframe, and only what has begun gives way to sound alone`() {
        var layers = SubscriberLayers(of: site.entry)
        let clock = FakeClock()
        layers.update(to: [LayerChooserTests.layer(.video, .noRID, 720, 2_500_000)])
        func look(for duration: Duration) {
            let end = clock.now + duration
            while clock.now < end {
                layers.adaptation.limited(to: 300_000, at: clock.now)
                _ = layers.aim(at: clock.advance(by: .milliseconds(100)))
            }
        }
        look(for: .seconds(10))
        #expect(layers.wanted == TrackID.video)
        _ = layers.passage(of: MediaRun(track: .video, isKeyframe: true, arrival: clock.now))
        #expect(layers.flowing == TrackID.video)
        look(for: .seconds(4))
        #expect(layers.isSoundAlone)
    }

    @Test(arguments: [
        ("POST", "/layer", #"{"encodingId": "r9"}"#, "good", 422), ("POST", "/layer", #"{"encodingId": 3}"#, "good", 422),
        ("POST", "/layer", #"{"mediaId": "7", "encodingId": "hi"}"#, "good", 422), ("POST", "/layer", "[]", "good", 422),
        ("POST", "/layer", "", "good", 422), ("POST", "/layer", #"{"encodingId": "hi"}"#, "bad", 403),
        ("GET", "/layer", "", "bad", 403), ("PUT", "/layer", "", "good", 405), ("GET", "/layers", "", "good", 404),
        ("POST", "/events", #"["viewercount"]"#, "good", 422), ("POST", "/events", "{}", "good", 422),
        ("POST", "/events", "", "bad", 403), ("GET", "/events", "", "good", 405), ("GET", "/events/layers", "", "bad", 403),
        ("OPTIONS", "/layer", "", "good", 200),
    ])
    func `answers`(_ method: String, _ path: String, _ body: String, _ token: String, _ status: Int) throws {
        site.tell()
        #expect(try site.answer(method, path, body: body, token: token).hasPrefix("HTTP/1.1 \(status) "))
        #expect(site.entry.desk.wish == .automatic)
    }

    @Test func `GET tells the layers by the section's index, which is sent, and why`() throws {
        site.tell()
        let text = try site.answer("GET", "/layer")
        let body = try #require(text.split(separator: "\r\n\r\n").last)
        let index = try #require(site.entry.desk.state.mediaIndex)
        let media = try #require(try JSONValue(parsing: body)["\(index)"])
        #expect(media["layers"]?.array?.compactMap { $0["encodingId"]?.string } == ["hi", "mid", "low"])
        #expect(media["layers"]?.array?.first?["bitrate"]?.integer == 1_700_000)
        #expect(media["current"]?.string == "low" && media["chosen"]?.string == "low" && media["reason"]?.string == "initial")
        #expect(media["wish"]?.string == "automatic")
    }

    @Test func `paths that are answered have what a proxy took off`() throws {
        let made = try site.ask("POST", "/events", body: #"["layers"]"#, fields: "X-Forwarded-Prefix: /ingest\r\n")
        #expect(site.wait { made.isClosed })
        let location = "/ingest/whep/sessions/\(site.entry.transport.id)"
        #expect(made.text.contains("Location: \(location)/events/layers\r\n"))
        #expect(WHEPResource.links(ofSession: location).allSatisfy { $0.hasPrefix("<\(location)/") })
    }

    @Test func `a stream tells what it was asked for, at once and when it changes, and ends with the session`() throws {
        let made = try site.answer("POST", "/events", body: #"["layers", "active", "inactive"]"#)
        #expect(made.hasPrefix("HTTP/1.1 201 ") && made.contains("/events/active,inactive,layers\r\n"))
        let all = try site.ask("GET", "/events/active,inactive,layers")
        let some = try site.ask("GET", "/events/inactive")
        #expect(site.wait { all.text.contains("text/event-stream") && some.text.contains("text/event-stream") })
        #expect(!all.text.contains("event: inactive"), "who comes while nobody publishes is not told so")
        site.tell()
        #expect(site.wait { all.text.contains(#""current":"low""#) })
        #expect(all.text.contains("event: active") && all.text.contains("event: layers"))
        site.tell(current: LayerChooserTests.hi)
        #expect(site.wait { all.text.contains(#""current":"hi""#) })
        site.tell(nil)
        #expect(site.wait { all.text.contains("event: inactive") && some.text.contains("event: inactive") })
        #expect(!some.text.contains("event: layers"))
        site.entry.desk.end()
        #expect(site.wait { all.isClosed && some.isClosed })
    }

    @Test func `streams are few for a session, and end by DELETE`() throws {
        let open = try (0..<LayerDesk.maximumListeners).map { _ in try site.ask("GET", "/events/layers") }
        #expect(site.wait { open.allSatisfy { $0.text.contains("text/event-stream") } })
        #expect(try site.answer("GET", "/events/layers").hasPrefix("HTTP/1.1 503 "))
        #expect(try site.answer("DELETE", "/events/layers").hasPrefix("HTTP/1.1 200 "))
        #expect(site.wait { open.allSatisfy(\.isClosed) })
        let again = try site.ask("GET", "/events/layers")
        #expect(site.wait { again.text.contains("text/event-stream") })
    }

    @Test func `streams of one session on two workers are told of the same, and end by one DELETE`() throws {
        let streams = [try site.ask("GET", "/events/layers"), try site.ask("GET", "/events/layers", worker: 1)]
        #expect(site.wait { streams.allSatisfy { $0.text.contains("text/event-stream") } })
        site.tell()
        #expect(site.wait { streams.allSatisfy { $0.text.contains(#""current":"low""#) } })
        #expect(try site.answer("DELETE", "/events/layers").hasPrefix("HTTP/1.1 200 "))
        #expect(site.wait { streams.allSatisfy(\.isClosed) })
    }

    @Test func `twice a second a session is asked after for nothing`() {
        let (desk, clock) = (site.entry.desk, FakeClock())
        let answers = [0, 499, 500, 600, 1_000, 3_000].map { desk.isUnhurried(at: clock.now + .milliseconds($0)) }
        #expect(answers == [true, false, true, false, true, true])
    }

    @Test func `an estimate that moves is no news`() {
        site.tell()
        let former = site.entry.desk.state
        var state = former
        state.estimate = 500_000
        #expect(!state.isNews(after: former))
        state.wish = .layer(.hi)
        #expect(state.isNews(after: former))
    }

    @Test(arguments: [
        ("", LayerWish.automatic), ("layer=hi", .layer(.hi)), ("x=1&layer=mid", .layer(.mid)), ("layer=low", .layer(.low)),
    ])
    func `a POST's query chooses`(_ query: String, _ wish: LayerWish) throws {
        #expect(try LayerWish(QueryItems(query)) == wish)
    }

    @Test(arguments: ["layer=", "layer=no-rid", "layer=HI"])
    func `a POST's query that names no layer is refused`(_ query: String) {
        #expect(throws: Refusal.self) { try LayerWish(QueryItems(query)) }
    }

    @Test func `the first layer is chosen by IVS' words`() throws {
        #expect(try InitialLayer(QueryItems("")) == .lowest)
        #expect(try InitialLayer(QueryItems("initialLayer=HIGHEST_QUALITY")) == .highest)
        #expect(throws: Refusal.self) { try InitialLayer(QueryItems("initialLayer=best")) }
    }
}
