import EventLoop
import Wire

/// Asks one node after another which primary has which slot, on a connection of its own.
final class ClusterTopology {
    /// Between two questions while all is well.
    static let calmInterval = Duration.seconds(5)
    /// Between two questions while something is amiss: a failover must not be noticed late, nor asked for a thousand times.
    static let busyInterval = Duration.milliseconds(200)
    /// Answers that did not help, after which another node is asked: one that was cut off knows nothing new.
    static let maximumFruitlessAnswers = 10

    /// At one node at least, however useless it seems: while a cluster elects, all of them do.
    static let shortestStay = Duration.seconds(1)

    var onMap: (SlotMap) -> Void = { _ in }
    var onFault: (RedisFault) -> Void = { _ in }

    private let link: Link
    private var timer: TimerWatch?
    private var isAmiss = true
    private var fruitlessAnswers = 0
    private var arrival = MonotonicTime.zero

    init(link: Link) {
        self.link = link
        link.onUp = { [unowned self] in
            arrival = self.link.loop.now  // not the argument, which the link would hold: itself
            ask()
        }
        link.onAway = { [unowned self] in onFault($0) }
        timer = link.loop.schedule(after: Self.busyInterval) { [unowned self] in ask() }
    }

    deinit { timer?.cancel() }

    func start() { link.start() }

    func close() {
        timer?.cancel()
        link.close()
    }

    /// Notes whether the map in use serves; while it does not, it is asked for more often.
    func judge(isAmiss: Bool) {
        if isAmiss, !self.isAmiss { timer?.rearm(after: Self.busyInterval) }
        if !isAmiss { fruitlessAnswers = 0 }
        self.isAmiss = isAmiss
    }

    /// Asks another node from now on: what this one says is of no use.
    func doubt() {
        guard let address = link.connection?.remoteAddress, link.loop.now - arrival >= Self.shortestStay else { return }
        fruitlessAnswers = 0
        link.lookAgain(because: .clusterIncomplete(address))
    }

    private func ask() {
        timer?.rearm(after: isAmiss ? Self.busyInterval : Self.calmInterval)
        guard let connection = link.connection else { return }
        let address = connection.remoteAddress
        link.send([RedisCommand("CLUSTER", "SLOTS")]) { [weak self] replies in self?.take(replies[0], from: address) }
    }

    private func take(_ reply: RedisReply, from address: SocketAddress) {
        switch reply {
        case .failure(.refused(let refusal)): link.lookAgain(because: .refused(address, refusal))
        // The link reports why.
        case .failure: break
        case .success(let answer):
            guard let map = SlotMap(answer, from: "\(address.ip)") else {
                return link.lookAgain(because: .clusterIncomplete(address))
            }
            fruitlessAnswers += 1
            onMap(map)
            if isAmiss, fruitlessAnswers >= Self.maximumFruitlessAnswers { doubt() }
        }
    }
}
