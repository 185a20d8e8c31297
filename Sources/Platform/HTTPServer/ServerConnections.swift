import Wire

/// The open connections of one server, and which of them makes way for another.
///
/// It closes none: a connection that is closed has itself removed at once.
struct ServerConnections {
    private var connections: [UInt64: HTTPConnection] = [:]
    private var lastNumber: UInt64 = 0
    /// In the order of accepting, to find the oldest that has not sent a whole request; others are skipped over.
    private var newcomers: ArraySlice<UInt64> = []

    var count: Int { connections.count }
    var isEmpty: Bool { connections.isEmpty }
    var all: Dictionary<UInt64, HTTPConnection>.Values { connections.values }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ connection: HTTPConnection) {
        connections[connection.number] = connection
        newcomers.append(connection.number)
    }

    /// - Returns: the connection; nil when it was removed before.
    mutating func remove(_ connection: HTTPConnection) -> HTTPConnection? {
        connections.removeValue(forKey: connection.number)
    }

    /// Takes those off the front that have left or sent a request. The first one does so before `requestTimeout`, which bounds
    /// the list.
    mutating func forgetFormerNewcomers() {
        while let first = newcomers.first, connections[first]?.isNewcomer != true { newcomers.removeFirst() }
    }

    /// The oldest that has not sent a whole request, once former newcomers are forgotten. Nobody is asked to make way twice.
    mutating func takeOldestNewcomer() -> HTTPConnection? { newcomers.popFirst().flatMap { connections[$0] } }

    /// The kept one that has been without a request for longest.
    var longestIdle: HTTPConnection? { connections.values.filter(\.isKeptIdle).min { $0.idleSince < $1.idleSince } }
}
