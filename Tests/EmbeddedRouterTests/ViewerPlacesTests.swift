import Admission
import EventLoop
import Refusals
import Testing
import Wire

@testable import EmbeddedRouter

@Suite("Places of viewers")
struct ViewerPlacesTests {
    static let limits = ViewerPlaces.Limits(total: 10, perStage: 8, perAddress: 6, perToken: 4)

    private static func place(
        _ number: UInt64, token: UInt8, address: UInt32 = 0, stage: String = "s", makesWay: Bool = true
    ) -> ViewerPlaces.Place {
        ViewerPlaces.Place(
            number: number, token: [token], address: .v4(1 << 24 + (address == 0 ? UInt32(token) : address)), stageID: stage,
            makesWay: makesWay)
    }

    @Test func `the newest of a token displaces its oldest that is not connected, and takes no other's place`() throws {
        var places = ViewerPlaces(Self.limits)
        _ = try places.take(Self.place(1, token: 1))
        for number in 2..<100 as Range<UInt64> {
            let displaced = try places.take(Self.place(number, token: 2, stage: "\(number)"))
            #expect(displaced == (number < 6 ? [] : [number - 4]))
        }
        #expect(places.places.map(\.number) == [1, 96, 97, 98, 99])
    }

    @Test func `a token whose sessions are all connected gets no more`() throws {
        var places = ViewerPlaces(Self.limits)
        for number in 0..<4 as Range<UInt64> {
            _ = try places.take(Self.place(number, token: 1))
            places.settle(number)
        }
        let full = #expect(throws: ViewerPlaces.Full.self) { try places.take(Self.place(9, token: 1)) }
        #expect(full?.bound == .token)
        let leaves = [places.leave(2), places.leave(2)]
        #expect(leaves == [true, false])
        let displaced = try places.take(Self.place(9, token: 1))
        #expect(displaced.isEmpty)
    }

    @Test(arguments: ViewerPlaces.Bound.allCases)
    func `whoever takes most under a bound makes way for a newcomer, connected ones do not`(_ bound: ViewerPlaces.Bound) throws {
        guard bound != .token else { return }
        var places = ViewerPlaces(Self.limits)
        let limit: UInt64 = bound == .total ? 10 : bound == .stage ? 8 : 6
        /// All of one address, or of one stage, or nothing alike.
        func newcomer(_ number: UInt64, token: UInt8) -> ViewerPlaces.Place {
            Self.place(
                number, token: token, address: bound == .address ? 77 : UInt32(number) + 1,
                stage: bound == .stage ? "s" : "\(number)")
        }
        // The first tokens take three each.
        for number in 0..<limit { _ = try places.take(newcomer(number, token: UInt8(number / 3))) }
        let first = try places.take(newcomer(50, token: 50))
        #expect(first == [0], "the oldest of the first that has most")
        let second = try places.take(newcomer(51, token: 51))
        #expect(second.count == 1)
        for place in places.places { places.settle(place.number) }
        let full = #expect(throws: ViewerPlaces.Full.self) { try places.take(newcomer(52, token: 52)) }
        #expect(full?.bound == bound)
        #expect(places.places.count == Int(limit))
    }

    @Test func `who has one place loses it to nobody`() throws {
        var places = ViewerPlaces(Self.limits)
        for number in 0..<10 as Range<UInt64> {
            _ = try places.take(Self.place(number, token: UInt8(number), stage: "\(number)"))
        }
        #expect(throws: ViewerPlaces.Full.self) { try places.take(Self.place(10, token: 10, stage: "10")) }
        #expect(places.places.map(\.number) == Array(0..<10))
    }

    @Test func `loopback is no address`() throws {
        var places = ViewerPlaces(ViewerPlaces.Limits(total: 10, perStage: 10, perAddress: 1, perToken: 10))
        for number in 0..<10 as Range<UInt64> {
            var place = Self.place(number, token: UInt8(number))
            place.address = .loopback
            let displaced = try places.take(place)
            #expect(displaced.isEmpty)
        }
    }
}

@Suite("Book of viewers")
struct ViewerBookTests {
    /// Has taken the right from some.
    struct Judge: TokenStanding {
        var refused: Set<String>
        func refusal(of bearer: TokenBearer) -> Refusal? {
            refused.contains(bearer.participantID) ? Refusal(.participantDisconnected) : nil
        }
    }

    private let book = ViewerRegistry(of: .sessions, .init(total: 10, perStage: 10, perAddress: 10, perToken: 2))
    private let ended = Lock<[String: [Refusal]]>([:])

    private func enter(_ participant: String) throws -> UInt64 {
        try book.enter(
            .init(
                grant: SubscribeGrant(participantID: participant, stageARN: "arn/s", stageID: "s"),
                token: Secret(participant), source: .loopback
            ) { [ended] refusal in ended.withLock { $0[participant, default: []].append(refusal) } })
    }

    @Test func `who lost the right is ended once, the others go on`() throws {
        for participant in ["a", "b", "a"] { _ = try enter(participant) }
        for _ in 0..<3 { book.end(refusedBy: Judge(refused: ["a"])) }
        #expect(ended.withLock { $0 } == ["a": [Refusal(.participantDisconnected), Refusal(.participantDisconnected)]])
        #expect(book.bearers.map(\.participantID) == ["b"] && book.count == 1)
    }

    @Test func `who makes way is told so, and leaves no trace`() throws {
        let first = try enter("a")
        for _ in 0..<2 { _ = try enter("a") }
        #expect(ended.withLock { $0["a"]?.map(\.code) } == [.tooManySubscribers])
        #expect(!book.leave(first) && book.count == 2)
    }
}
