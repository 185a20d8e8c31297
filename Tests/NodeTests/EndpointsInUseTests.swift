import EventLoop
import Store
import TestSupport
import Testing
import Wire

@testable import Node

@Suite
struct EndpointsInUseTests {
    @Test(.timeLimit(.minutes(10)))
    func `what is handed out is noted again and again`() throws {
        let folder = try TemporaryDirectory()
        let endpoints = StageEndpoints(events: "wss://e", whip: "https://w/whip", rtmp: "", rtmps: "")
        let begun = EventLoop.wallNow() + .seconds(-10 * 86_400)
        let store = try EmbeddedStore(directory: folder.path) { _ = EndpointHistory(endpoints, in: &$0, now: begun) }
        defer { store.close() }
        let noted = store.state.setting("endpoints")?.revealText()
        #expect(noted?.contains("https://w/whip") == true)
        let loop = try EventLoop()
        let inUse = EndpointsInUse(loop: loop, store: store, endpoints: endpoints, interval: .milliseconds(10))
        #expect(loop.run(until: { store.state.setting("endpoints")?.revealText() != noted }, within: .seconds(120)))
        withExtendedLifetime(inUse) {}
    }
}
