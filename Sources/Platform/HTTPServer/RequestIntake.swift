import HTTP
import Wire

/// The requests of one connection out of the bytes that its stream delivers, so many in one turn of the loop.
struct RequestIntake {
    /// Pipelining shall not hold up the loop.
    static let maximumPerTurn = 16

    private var parser: HTTPRequestParser
    /// Whole requests so far.
    private(set) var count = 0
    private var turn = (moment: MonotonicTime.zero, requests: 0)
    private var isDelivery = false
    /// Whether the last delivery left bytes with the stream.
    private var hasWaitingBytes = false

    init(_ configuration: HTTPServerConfiguration) {
        parser = HTTPRequestParser(maximumBodyLength: configuration.maximumBodyLength)
    }

    /// Whether a part of a request is there.
    var hasBegun: Bool { !parser.isIdle }

    /// Whether bytes wait that the stream delivers again only when it is asked to.
    var mustBeAskedFor: Bool { hasWaitingBytes && !isDelivery }

    mutating func deliveryBegins() { isDelivery = true }

    /// - Parameter byteCount: of what was not taken.
    mutating func deliveryEnds(leaving byteCount: Int) { (isDelivery, hasWaitingBytes) = (false, byteCount > 0) }

    /// Whether another request may begin in this turn.
    mutating func admits(at now: MonotonicTime) -> Bool {
        if turn.moment != now { turn = (now, 0) }
        turn.requests += 1
        return turn.requests <= Self.maximumPerTurn
    }

    /// Takes bytes up to the next event.
    mutating func take(_ bytes: RawSpan) throws(HTTPError) -> (byteCount: Int, event: HTTPRequestParser.Event?) {
        let taken = try parser.receive(bytes)
        if case .request? = taken.event { count += 1 }
        return taken
    }
}
