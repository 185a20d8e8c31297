import Testing

@testable import Sockets

@Suite("How a stream says goodbye")
struct FarewellTests {
    @Test func `last words, a pause, close_notify, FIN`() {
        var farewell = Farewell(pause: .seconds(1))
        #expect(farewell.flushed() == .pause(.seconds(1)))
        #expect(farewell.pauseEnded() == .sayNothingFollows)
        #expect(farewell.flushed() == .sayFIN)
    }

    @Test func `without a pause it goes on at once`() {
        var farewell = Farewell(pause: .zero)
        #expect(farewell.flushed() == .sayNothingFollows)
        #expect(farewell.flushed() == .sayFIN)
    }

    @Test func `each step comes once`() {
        var farewell = Farewell(pause: .seconds(1))
        #expect(farewell.pauseEnded() == nil)
        _ = farewell.flushed()
        #expect(farewell.flushed() == nil)
        _ = farewell.pauseEnded()
        #expect(farewell.pauseEnded() == nil)
        _ = farewell.flushed()
        #expect(farewell.flushed() == nil)
    }
}
