/// Packets that a receiver asked for and that wait to be sent again (RFC 4585 §6.2.1).
///
/// A receiver is anybody's: however much its datagrams ask for, no more than `maximumWaiting` numbers are kept, and
/// `maximumPerTurn` packets sent before others have their turn (under 0.1 ms, encryption and sending included).
public struct RetransmissionRequests: Sendable {
    /// As many as a report of a burst of loss names.
    public static let maximumWaiting = 64
    /// Packets sent in one turn.
    public static let maximumPerTurn = 8
    /// After which the next turn comes.
    public static let turnInterval: Duration = .milliseconds(1)

    private var numbers: [UInt16] = []
    private var taken = 0

    /// Nothing is asked for.
    public init() {}

    /// Numbers that wait.
    public var count: Int { numbers.count - taken }
    /// Whether no number waits.
    public var isEmpty: Bool { count == 0 }

    /// Keeps what there is room for.
    public mutating func add(_ nack: GenericNACK) {
        for entry in nack.entries {
            guard numbers.count < Self.maximumWaiting else { return }
            numbers.append(entry.packetID)
            for bit in 0..<UInt16(16) where entry.followingLost >> bit & 1 != 0 && numbers.count < Self.maximumWaiting {
                numbers.append(entry.packetID &+ 1 &+ bit)
            }
        }
    }

    /// One turn: `send` is called with each number in order and answers whether a packet was sent.
    public mutating func serve(_ send: (UInt16) -> Bool) {
        var sent = 0
        while sent < Self.maximumPerTurn, taken < numbers.count {
            if send(numbers[taken]) { sent += 1 }
            taken += 1
        }
        if isEmpty { removeAll() }
    }

    /// Forgets what waits.
    public mutating func removeAll() {
        numbers.removeAll(keepingCapacity: true)
        taken = 0
    }
}
