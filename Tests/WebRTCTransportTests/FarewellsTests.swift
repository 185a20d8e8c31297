import TestSupport
import Testing
import Wire

@testable import WebRTCTransport

@Suite("Farewells")
struct FarewellsTests {
    private static func key(_ port: UInt16) -> TupleKey { MediaPath(remote: SocketAddress(.loopback, port: port)).key }

    @Test func `an answer a second, five in all, for a minute`() {
        var farewells = Farewells()
        let clock = FakeClock()
        farewells.add((0..<9).map { [UInt8($0)] }, for: Self.key(1), at: clock.now)
        #expect(farewells.answer(Self.key(2), at: clock.now) == nil)
        var answers: [UInt8] = []
        for _ in 0..<10_000 {
            if let record = farewells.answer(Self.key(1), at: clock.now) { answers += record }
            clock.advance(by: .milliseconds(1))
        }
        #expect(answers == [0, 1, 2, 3, 4])
        farewells.add([[7]], for: Self.key(1), at: clock.now)
        clock.advance(by: .seconds(60))
        #expect(farewells.answer(Self.key(1), at: clock.now) == nil && farewells.count == 0)
    }

    @Test func `when there are too many the oldest goes`() {
        var farewells = Farewells()
        let clock = FakeClock()
        for port in 0..<UInt16(3_000) {
            farewells.add([[1]], for: Self.key(port), at: clock.now)
            clock.advance(by: .milliseconds(1))
        }
        #expect(farewells.count == Farewells.maximumCount)
        #expect(farewells.answer(Self.key(2_999), at: clock.now) != nil && farewells.answer(Self.key(0), at: clock.now) == nil)
        clock.advance(by: .seconds(60))
        farewells.add([[1]], for: Self.key(0), at: clock.now)
        #expect(farewells.count == 1)
    }
}
