import EventLoop
import Foundation
import GatewayLogging
import Handover
import HandoverCodec
import JSON
import MediaContract
import Sockets
import Store
import Wire

/// Gives this process's place to a successor, step by step, and takes it back when that one ends too early (docs/design.md 4.6).
/// On the control loop.
///
/// Until the successor is ready nothing is missing here but the store's files and the admin listener, which wait. After that our
/// sessions go on to their end with what the successor passes on.
final class NodeHandover {
    /// What of the node takes part.
    struct Parts {
        var services: HandoverServices
        var platform: EmbeddedPlatform
        var workers: WorkerGroup
        var drain: NodeDrain
        var admin: AdminSite
        var events: EventPlane
        var notifier: ServiceNotifier?
        /// The generation of our sessions, and what binds their ids to tokens.
        var generation: UInt8
        var sessionKey: Secret
        /// Everything a successor gets but the pairs for datagrams, which are made anew each time.
        var sockets: () -> [(SocketRole, OwnedDescriptor)]
        var tellHolder: () -> Void
        /// Live sessions, those of the processes before us included.
        var sessions: () -> [JSONValue]
        /// The process before us, as long as it has sessions.
        var predecessor: () -> Predecessor?
    }

    /// While `parting` the connection is over and the successor may still live.
    enum Phase { case alone, offered, preparing, leaving, succeeded, parting, returning }

    /// Why nobody can take our place now; nil when somebody can.
    var obstacle: () -> String? = { nil }

    let loop: EventLoop
    let parts: Parts
    private let directory: String
    private var listener: OwnedDescriptor?
    private var listenerWatch: DescriptorWatch?
    private var refused: [ObjectIdentifier: HandoverChannel] = [:]
    var channel: HandoverChannel?
    var phase = Phase.alone
    var mailbox: Mailbox<HandoverNews>?
    /// Our ends of the pairs.
    var links: [OwnedDescriptor] = []
    /// Workers that have not yet done what this step asks.
    var awaited = 0
    var deadline: TimerWatch?
    var progress: TimerWatch?
    var isTerminating = false
    /// The successor's place has a third process: there is none for us to come back to.
    var isBypassed = false
    /// The successor's process id, as it says.
    var process: Int32 = 0
    /// When the sessions were told last.
    var toldSessions = MonotonicTime.zero
    /// Tells what workers did in this step from what they did in one that was given up.
    var step = 0
    private var successor: pid_t?
    private var children: Watch?

    init(loop: EventLoop, directory: String, parts: Parts) throws {
        (self.loop, self.directory, self.parts) = (loop, directory, parts)
        mailbox = try Mailbox(loop: loop) { [unowned self] in receive($0) }
        children = loop.watchSignal(SIGCHLD) { [unowned self] in if let successor { SuccessorProcess.reap(successor) } }
        try listen()
    }

    /// More or fewer processes before us have sessions: the one after us counts them too.
    func countPredecessors() {
        if phase == .succeeded { channel?.send(.predecessors(parts.predecessor()?.count ?? 0)) }
    }

    /// Waits for a successor to ask.
    func listen() throws {
        let listener = try MessageSocket.listen(at: Succession.path(in: directory))
        self.listener = listener
        listenerWatch = loop.watch(descriptor: listener.number, for: .read) { [unowned self] in acceptWaiting() }
    }

    /// The path belongs to the successor now.
    func stopListening() {
        listenerWatch?.cancel()
        (listenerWatch, listener) = (nil, nil)
    }

    /// SIGUSR2: has the program that is now on disk take our place.
    func startSuccessor() {
        if let reason = self.reason { return Log.event(.warning, "handover_refused", ["because": .string(reason)]) }
        switch SuccessorProcess.start() {
        case .success(let process):
            successor = process
            Log.event(.info, "successor_started", ["process": .integer(Int(process))])
        case .failure(let error): Log.event(.error, "successor_not_started", ["because": .string("\(error)")])
        }
    }

    private var reason: String? { phase == .alone ? obstacle() : "another process is taking its place" }

    private func acceptWaiting() {
        guard let listener, let connection = MessageSocket.accept(from: listener) else { return }
        guard DescriptorMessage.peerUser(of: connection) == getuid() else { return }
        let channel = HandoverChannel(loop: loop, descriptor: connection)
        if let reason { return refuse(channel, because: reason) }
        (self.channel, phase) = (channel, .offered)
        channel.onMessage = { [unowned self] message, _ in receive(message) }
        channel.onClosed = { [unowned self] in closed() }
        channel.onGone = { [unowned self] in gone() }
        deadline = loop.schedule(after: Self.patience) { [unowned self] in self.channel?.close() }
    }

    /// Processes with sessions before the one that serves: an old one and the new one that an even newer one, or the old program
    /// again, takes the place of. With more, every datagram of the oldest would be handed on too often.
    static let maximumPredecessors = 2
    /// Says why not, once it has said what it wants: a connection closed before that would lose the words.
    private func refuse(_ channel: HandoverChannel, because reason: String) {
        Log.event(.warning, "handover_refused", ["because": .string(reason)])
        guard refused.count < Self.maximumRefused else { return }
        let id = ObjectIdentifier(channel)
        refused[id] = channel
        channel.onMessage = { [unowned channel] _, _ in channel.send(.refused(reason)) }
        channel.onClosed = { [unowned self] in refused[id] = nil }
    }

    /// Would-be successors that are being refused at one time; further ones are only cut off.
    private static let maximumRefused = 8

    /// A successor's start has to be over by then, certificates and databases and all.
    private static let patience: Duration = .seconds(60)
}

/// What other threads tell during a hand-over.
enum HandoverNews: Sendable {
    case storeSuspended
    case storeResumed(Result<EmbeddedStore.Recovered, StoreError>)
    /// A worker has done what this step asks.
    case workerDone(step: Int)
    case history([HistoryWrite])
    case lease(LeaseChange)
    case refusal(HandedRefusal)
    case answered(Int, HandedResponse)
}
