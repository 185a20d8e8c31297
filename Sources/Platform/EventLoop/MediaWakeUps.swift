/// Descriptors of media that were ready.
struct MediaWakeUps {
    /// A burst of datagrams wakes while it is still coming in: a stream over datagrams wakes some 105 times a second, where one over
    /// a connection does 70. A loop shall rest with as many streams of either.
    static let (connectionWeight, sharedWeight) = (3, 2)

    /// Connections, which have one stream each.
    private var connections = 0
    /// Sockets of datagrams and mailboxes, which streams share.
    private var shared = 0

    var count: Int { connections + shared }
    var weight: Int { connections * Self.connectionWeight + shared * Self.sharedWeight }

    mutating func count(isShared: Bool) { if isShared { shared += 1 } else { connections += 1 } }

    static func += (sum: inout MediaWakeUps, other: MediaWakeUps) {
        sum.connections += other.connections
        sum.shared += other.shared
    }
}
