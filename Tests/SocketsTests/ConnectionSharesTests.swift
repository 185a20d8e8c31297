import EventLoop
import Glibc
import Testing
import Wire

@testable import Sockets

@Suite("ConnectionShares", .timeLimit(.minutes(10)))
struct ConnectionSharesTests {
    /// Workers on one loop, and the streams that each of them has.
    private final class Workers {
        let loop: EventLoop
        let shares: ConnectionShares
        var doors: [ConnectionInbox] = []
        var streams: [[TCPStream]]
        /// The peers' ends.
        var peers: [OwnedDescriptor] = []

        /// - Parameter fullCount: what fills a worker; as it is, each has its share from the first connection on.
        init(_ count: Int, fullCount: Int = 0) throws {
            loop = try EventLoop()
            shares = ConnectionShares(workerCount: count, fullCount: fullCount)
            streams = [[TCPStream]](repeating: [], count: count)
            for index in 0..<count {
                let door = try ConnectionInbox(loop: loop, worker: index, of: shares) { [unowned self] connection in
                    streams[index].append(TCPStream(loop: loop, accepted: connection))
                }
                doors.append(door)
            }
        }

        var counts: [Int] { streams.indices.map { shares.count(ofWorker: $0) } }
        var streamCounts: [Int] { streams.map(\.count) }

        /// A peer connects where the kernel happens to put it.
        func connect(at worker: Int) throws {
            var ends: [CInt] = [0, 0]
            try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
            peers.append(OwnedDescriptor(ends[1]))
            doors[worker].accept(connection(ends[0]))
        }

        func wait(until isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: .seconds(120)) }
    }

    private static func connection(_ descriptor: CInt) -> AcceptedConnection {
        let address = SocketAddress(.loopback, port: 1)
        return AcceptedConnection(descriptor: OwnedDescriptor(descriptor), remoteAddress: address)
    }

    @Test(arguments: [1, 2, 3, 4, 8])
    func `connections that one worker accepts are shared evenly`(count: Int) throws {
        let workers = try Workers(count)
        for _ in 0..<41 { try workers.connect(at: 0) }
        #expect(workers.wait { workers.streamCounts.reduce(0, +) == 41 })
        #expect(workers.streamCounts == workers.counts)
        let (least, most) = (try #require(workers.counts.min()), try #require(workers.counts.max()))
        #expect(most - least <= ConnectionShares.tolerance + 1, "\(workers.counts)")
    }

    @Test
    func `workers are filled one after the other, and then share evenly`() throws {
        let workers = try Workers(3, fullCount: 8)
        for (connections, counts) in [(2, [0, 2, 0]), (8, [8, 2, 0]), (6, [8, 8, 0]), (8, [8, 8, 8]), (1, [8, 9, 8])] {
            for _ in 0..<connections { try workers.connect(at: 1) }
            #expect(workers.counts == counts)
        }
        for _ in 0..<15 { try workers.connect(at: 1) }
        #expect(workers.wait { workers.streamCounts == workers.counts })
        #expect(workers.counts.allSatisfy { (12...14).contains($0) }, "\(workers.counts)")
        workers.streams[0].removeLast(workers.counts[0] - 5)
        try workers.connect(at: 2)
        #expect(workers.counts[0] == 6, "who has room again is filled first")
    }

    @Test
    func `however the kernel spreads them, no two shares differ by more than two`() throws {
        let workers = try Workers(4)
        var state: UInt64 = 7
        for _ in 0..<200 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Half of them at the first worker.
            try workers.connect(at: max(0, Int(state >> 33) % 7 - 3))
            #expect((workers.counts.max() ?? 0) - (workers.counts.min() ?? 0) <= 2)
        }
        #expect(workers.wait { workers.streamCounts == workers.counts })
    }

    @Test
    func `connections that follow each other stay where they come`() throws {
        let workers = try Workers(2)
        for _ in 0..<100 {
            // The next one may come before the end of the last one is seen.
            try workers.connect(at: 0)
            try workers.connect(at: 0)
            #expect(workers.streamCounts == [2, 0], "at once, without a turn of the loop")
            workers.streams[0] = []
            #expect(workers.counts == [0, 0])
        }
    }

    @Test
    func `a share is given back however a connection ends`() throws {
        let workers = try Workers(2)
        for _ in 0..<8 { try workers.connect(at: 1) }
        #expect(workers.wait { workers.streamCounts == workers.counts && workers.streamCounts.reduce(0, +) == 8 })
        let before = workers.counts[1]
        workers.streams[1][0].close()
        #expect(workers.counts[1] == before - 1)
        // The stream is still there; its connection is not.
        _ = workers.streams[1].popLast()
        #expect(workers.counts[1] == before - 2)
        workers.peers = []
        #expect(workers.wait { workers.counts == [0, 0] })
        #expect(workers.streams.joined().allSatisfy { $0.isClosed })
    }

    @Test
    func `a worker that stops closes what is on its way to it, and gets no more`() throws {
        let workers = try Workers(2)
        for _ in 0..<3 { try workers.connect(at: 0) }
        #expect(workers.counts == [2, 1])
        #expect(workers.streamCounts == [2, 0], "the third waits in the second worker's door")
        workers.doors[1].close()
        #expect(workers.counts == [2, 0])
        var byte: UInt8 = 0
        #expect(recv(workers.peers[2].number, &byte, 1, CInt(MSG_DONTWAIT)) == 0, "closed")
        for _ in 0..<3 { try workers.connect(at: 0) }
        #expect(workers.streamCounts == [5, 0])
    }

    @Test
    func `a worker that is gone closes what is on its way to it`() throws {
        let workers = try Workers(2)
        for _ in 0..<3 { try workers.connect(at: 0) }
        workers.doors.removeLast()
        #expect(workers.counts == [2, 0])
        var byte: UInt8 = 0
        #expect(recv(workers.peers[2].number, &byte, 1, CInt(MSG_DONTWAIT)) == 0, "closed")
    }

    @Test
    func `what comes to a door that closes at that moment is closed`() throws {
        let shares = ConnectionShares(workerCount: 2, fullCount: 0)
        shares.open(worker: 1, try Self.senderOfGoneMailbox())
        var kept: [AcceptedConnection] = []
        for _ in 0..<3 { if let own = shares.place(Self.connection(-1), acceptedBy: 0) { kept.append(own) } }
        #expect(kept.count == 2)
        #expect((shares.count(ofWorker: 0), shares.count(ofWorker: 1)) == (2, 0))
    }

    private static func senderOfGoneMailbox() throws -> MailboxSender<AcceptedConnection> {
        try Mailbox<AcceptedConnection>(loop: try EventLoop()) { _ in }.sender
    }

    @Test(arguments: [0, 900])
    func `workers that accept at the same time share as evenly`(fullCount: Int) throws {
        let shares = ConnectionShares(workerCount: 4, fullCount: fullCount)
        let loop = try EventLoop()
        let boxes = try (0..<4).map { index in
            let box = try Mailbox<AcceptedConnection>(loop: loop) { _ in }
            shares.open(worker: index, box.sender)
            return box
        }
        let kept = Lock([AcceptedConnection]())
        // The first worker accepts most.
        let threads = try [3_000, 500, 0, 500].enumerated().map { index, count in
            try WorkerThread.start(name: "accepting-\(index)") {
                for _ in 0..<count {
                    guard let own = shares.place(Self.connection(-1), acceptedBy: index) else { continue }
                    kept.withLock { $0.append(own) }
                }
            }
        }
        for thread in threads { thread.join() }
        let counts = (0..<4).map { shares.count(ofWorker: $0) }
        #expect(counts.reduce(0, +) == 4_000)
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 2, "\(counts)")
        kept.withLock { $0 = [] }
        withExtendedLifetime(boxes) {}
    }
}
