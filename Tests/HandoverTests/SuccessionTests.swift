import Dispatch
import EventLoop
import HandoverCodec
import Sockets
import TestSupport
import Testing
import Wire

@testable import Handover
@testable import Store

/// The real `Succession` on a thread of its own, and a `HandoverMachine` behind a real socket.
@Suite("A take-over over a socket", .timeLimit(.minutes(10)))
struct SuccessionTests {
    /// How far the successor goes before it ends.
    enum Depth: Int, CaseIterable, Sendable {
        case sockets, prepared, inPlace
    }

    @Test func `the successor gets the sockets, what is told of the store, the leases, and the place`() throws {
        let bench = try PredecessorBench()
        let successor = try SuccessorThread(of: bench, until: .inPlace)
        #expect(bench.loop.run(until: { bench.handOvers == 1 && successor.isOver }, within: .seconds(120)))
        let found = try successor.found.get()
        #expect(found.generation == 3 && found.roles == [SocketRole(.rtmp), SocketRole(.lock)])
        #expect(found.living == [LivingParticipant(sessionID: "st-1", participantID: "p")])
        #expect(found.adopted == [.predecessors(1)])
    }

    @Test(arguments: Depth.allCases)
    func `one that ends anywhere on its way gives the place back`(depth: Depth) throws {
        let bench = try PredecessorBench()
        let successor = try SuccessorThread(of: bench, until: depth)
        #expect(bench.loop.run(until: { successor.isOver && bench.closings == 1 }, within: .seconds(120)))
        #expect(bench.loop.run(until: { bench.machine.obstacle == nil }, within: .seconds(120)))
        #expect(bench.hasStore == true && bench.admits)
    }

    @Test func `a predecessor that closes ends the successor's start`() throws {
        let bench = try PredecessorBench()
        bench.closesWhenAsked = true
        let successor = try SuccessorThread(of: bench, until: .inPlace)
        #expect(bench.loop.run(until: { successor.isOver }, within: .seconds(120)))
        #expect(throws: HandoverError.gone) { try successor.found.get() }
    }

    /// It may end at any moment: what is asked next finds no socket, and said "Broken pipe".
    @Test func `a predecessor that has ended when more is asked of it is gone`() throws {
        let (directory, closed) = (try TemporaryDirectory(), DispatchSemaphore(value: 0))
        let listener = try MessageSocket.listen(at: Succession.path(in: directory.path))
        let found = Lock<Result<Int, any Error>?>(nil)
        let thread = try WorkerThread.start(name: "successor") {
            let result: Result<Int, any Error> = Result {
                let succession = try Succession(directory: directory.path)
                closed.wait()
                return try succession.prepare().reservations.count
            }
            found.withLock { $0 = result }
        }
        defer { thread.join() }
        defer { closed.signal() }
        try #require(MessageSocket.waitForMessage(on: listener, within: .seconds(60)))
        try answerAndEnd(try #require(MessageSocket.accept(from: listener)))
        closed.signal()
        thread.join()
        #expect(throws: HandoverError.gone) { try found.withLock { $0 }?.get() }
    }

    /// Reads what it is greeted with, makes its offer, and closes the connection.
    private func answerAndEnd(_ connection: OwnedDescriptor) throws {
        try #require(MessageSocket.waitForMessage(on: connection, within: .seconds(60)))
        _ = try DescriptorMessage.receive(over: connection)
        let offer = HandoverMessage.offer(HandoverOffer(generation: 0, workers: 2, descriptors: 0, sessionKey: []))
        for frame in MessageFrames.cut(try #require(MessageCodec.encode(offer))) { try frame.send(over: connection) }
        MessageSocket.shutDown(connection)
    }

    @Test func `where nobody runs there is nobody to ask`() throws {
        let directory = try TemporaryDirectory()
        let error = #expect(throws: HandoverError.self) { try Succession(directory: directory.path) }
        guard case .nobody = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}

/// What a successor was told, or why its start failed.
private final class SuccessorThread {
    struct Found: Sendable {
        var generation: UInt8 = 0
        var roles: Set<SocketRole> = []
        var living: Set<LivingParticipant> = []
        var adopted: [HandoverMessage] = []
    }

    private let result: Lock<Result<Found, any Error>?>
    private let thread: WorkerThread

    var isOver: Bool { result.withLock { $0 != nil } }
    var found: Result<Found, any Error> { result.withLock { $0 } ?? .failure(HandoverError.late) }

    init(of bench: PredecessorBench, until depth: SuccessionTests.Depth) throws {
        let (directory, wake) = (bench.directory, bench.wake.sender)
        let result = Lock<Result<Found, any Error>?>(nil)
        self.result = result
        thread = try WorkerThread.start(name: "successor") {
            let found = Result { try Self.run(in: directory, until: depth) }
            result.withLock { $0 = found }
            wake.send(())
        }
    }

    deinit { thread.join() }

    private static func run(in directory: String, until depth: SuccessionTests.Depth) throws -> Found {
        let succession = try Succession(directory: directory)
        var found = Found()
        (found.generation, found.roles) = (succession.offer.generation, Set(succession.sockets.keys))
        if depth == .sockets { return found }
        found.living = try succession.prepare().living
        if depth == .prepared { return found }
        try succession.takePlace { found.adopted.append($0) }
        return found
    }
}

/// A predecessor of two workers that does at once what the machine says. Confined to its loop's thread.
private final class PredecessorBench {
    let loop: EventLoop
    let temporary: TemporaryDirectory
    private(set) var machine = HandoverMachine(workers: 2)
    private(set) var hasStore = true
    private(set) var admits = true
    private(set) var closings = 0
    private(set) var handOvers = 0
    /// Has the loop look again.
    let wake: Mailbox<Void>
    var closesWhenAsked = false

    private var listener: OwnedDescriptor?
    private var watch: DescriptorWatch?
    private var channel: HandoverChannel?
    private var inputs: [(inout HandoverMachine) -> [HandoverMachine.Action]] = []

    var directory: String { temporary.path }

    init() throws {
        (loop, temporary) = (try EventLoop(), try TemporaryDirectory())
        wake = try Mailbox(loop: loop) {}
        let listener = try MessageSocket.listen(at: Succession.path(in: directory))
        self.listener = listener
        watch = loop.watch(descriptor: listener.number, for: .read) { [unowned self] in accept() }
    }

    private func accept() {
        guard let listener, let connection = MessageSocket.accept(from: listener) else { return }
        let channel = HandoverChannel(loop: loop, descriptor: connection)
        channel.onMessage = { [unowned self] message, _ in put { $0.received(message) } }
        channel.onClosed = { [unowned self] in
            closings += 1
            put { $0.closed(isDrained: false) }
        }
        channel.onGone = { [unowned self] in put { $0.gone() } }
        self.channel = channel
        put { $0.connected(obstacle: nil) }
    }

    private func put(_ input: @escaping (inout HandoverMachine) -> [HandoverMachine.Action]) {
        inputs.append(input)
        guard inputs.count == 1 else { return }
        while let next = inputs.first {
            for action in next(&machine) { perform(action) }
            inputs.removeFirst()
        }
    }

    private func perform(_ action: HandoverMachine.Action) {
        switch action {
        case .send(let message): channel?.send(message)
        case .offer: offer()
        case .tellLiving: channel?.send(.living([LivingParticipant(sessionID: "st-1", participantID: "p")]))
        case .relay: channel?.send(.predecessors(1))
        case .suspendStore:
            if closesWhenAsked { return channel?.close() ?? () }
            hasStore = false
            put { $0.storeSuspended() }
        case .resumeStore:
            hasStore = true
            put { $0.storeResumed(.success(.init(activeSessions: [], highestGeneration: 0))) }
        case .admit(let isAdmitting): admits = isAdmitting
        case .suspendAccepting(let step), .suspendReading(let step):
            for _ in 0..<2 { put { $0.workerDone(step: step) } }
        case .close: channel?.close()
        case .log(.handedOver): handOvers += 1
        default: break
        }
    }

    private func offer() {
        guard let (a, b) = try? DescriptorMessage.makePair() else { return }
        channel?.send(.offer(HandoverOffer(generation: 3, workers: 2, descriptors: 2, sessionKey: [1])))
        channel?.send(.sockets([SocketRole(.rtmp), SocketRole(.lock)]), [a, b])
    }
}
