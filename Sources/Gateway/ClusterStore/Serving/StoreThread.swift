import EventLoop
import Redis
import Settings
import Store
import Wire

/// What the thread of a cluster's store does: carries out requests one after the other, and follows what other nodes change.
///
/// Requests wait for the database, turning the loop meanwhile; that is why they are carried out between the loop's turns and
/// never in one of its callbacks, which only note what there is to do.
final class StoreThread {
    struct Outlets: Sendable {
        var publish: @Sendable (StoreState) -> Void
        var count: @Sendable (ClusterStoreStatistics) -> Void
        var onEvents: @Sendable () -> Void
        var onNotice: @Sendable (ClusterStoreNotice) -> Void
    }

    /// What was read at start, by another connection.
    struct Beginning: Sendable {
        /// The name of this process's commits.
        var process: String
        var snapshot: ClusterDatabase.Snapshot
        var runIDs: [String]
    }

    /// A message that was lost costs no more than this.
    static let pollInterval = Duration.seconds(1)

    private let loop: EventLoop
    private let client: WaitingClient
    private let database: ClusterDatabase
    private let inbox: StoreInbox
    private let outlets: Outlets
    private var feed: HistoryFeed
    private var subscription: RedisSubscription?
    private var statistics = ClusterStoreStatistics()
    /// What the loop's callbacks have noted.
    private var isWoken = false
    private var hasChanges = true
    private var hasEvents = true
    /// The copy may not be that of the servers: nothing is asked of them or told to them before all is read.
    private var mustReload = false
    /// The servers have lost the platform's data, as was told.
    private var isLost = false
    private var lastPoll = MonotonicTime.zero
    /// Which servers the copy was read from: others may have lost writes.
    private var runIDs: [String]

    /// Runs until the inbox is closed and everything in it carried out.
    static func run(
        _ settings: RedisStoreSettings, from beginning: Beginning, local: EmbeddedStore, inbox: StoreInbox, outlets: Outlets
    ) {
        // Without descriptors for a loop nothing at all would run in this process; callers are told `.closed`.
        guard let loop = try? EventLoop(), let client = try? WaitingClient(loop: loop, settings: settings.redis) else {
            inbox.close()
            return refuse(inbox.take().requests)
        }
        let thread = StoreThread(loop, client, settings, from: beginning, local: local, inbox: inbox, outlets: outlets)
        guard let mailbox = try? Mailbox<Void>(loop: loop, receive: { thread.isWoken = true }) else {
            inbox.close()
            return refuse(inbox.take().requests)
        }
        inbox.opened(mailbox.sender)
        thread.tell(unreadable: beginning.snapshot.unreadable)
        thread.serve()
    }

    private static func refuse(_ requests: [StoreInbox.Request]) {
        for case .question(_, let refuse) in requests { refuse(.closed) }
    }

    private init(
        _ loop: EventLoop, _ client: WaitingClient, _ settings: RedisStoreSettings, from beginning: Beginning,
        local: EmbeddedStore, inbox: StoreInbox, outlets: Outlets
    ) {
        (self.loop, self.client, self.inbox, self.outlets) = (loop, client, inbox, outlets)
        database = ClusterDatabase(
            server: client, settings: settings, process: beginning.process, continuing: beginning.snapshot)
        runIDs = beginning.runIDs
        database.onChange = outlets.publish
        feed = HistoryFeed(
            forwarder: HistoryForwarder(server: client, schema: database.loader.schema, retention: settings.events.retention),
            local: local, inbox: inbox)
    }

    private func serve() {
        client.client.onStateChange = { [unowned self] in stateChanged($0) }
        client.start()
        subscribe()
        while true {
            let pause = Self.pause(until: database.deadline, at: EventLoop.monotonicNow())
            _ = loop.run(until: { [unowned self] in isWoken }, within: pause)
            isWoken = false
            let isClosed = inbox.isClosed
            synchronise()
            let (requests, historyWaits) = inbox.take()
            carryOut(requests)
            if historyWaits { feed.hasNews = true }
            if let reason = feed.advance(
                isConnected: client.client.state.isConnected && !mustReload, at: EventLoop.monotonicNow())
            {
                outlets.onNotice(.historyRefused(reason: reason))
            }
            count()
            if isClosed { break }
        }
        subscription = nil
        // We leave the servers, not they us.
        client.client.onStateChange = { _ in }
        client.close()
    }

    /// How long news is waited for.
    /// - Parameter deadline: when there is something to read again. Where it has passed the servers could not be asked, or
    ///   it passed just now.
    static func pause(until deadline: MonotonicTime?, at now: MonotonicTime) -> Duration {
        guard let deadline, deadline > now else { return pollInterval }
        return min(pollInterval, max(.milliseconds(1), deadline - now))
    }

    private func carryOut(_ requests: [StoreInbox.Request]) {
        for request in requests {
            switch request {
            case .question(let question, let refuse): isUpToDate() ? question(database) : refuse(.away)
            case .queue(let result): feed.take(result, at: EventLoop.monotonicNow())
            }
        }
    }
}

// MARK: - Following the database

extension StoreThread {
    private func stateChanged(_ state: RedisState) {
        switch state {
        case .connected(let servers):
            if statistics.isAway { outlets.onNotice(.back) }
            statistics.isAway = false
            // What one server lost of its newest writes shows in the stream of commits; of several each may have lost its own.
            if servers.count > 1, client.client.state.runIDs != runIDs { mustReload = true }
            (isWoken, hasChanges, hasEvents) = (true, true, true)
            feed.connected()
        case .away(_, let fault):
            if !statistics.isAway { outlets.onNotice(.away(reason: "\(fault)")) }
            // Whether data is lost is looked at, and told, again once they are back.
            (statistics.isAway, isLost) = (true, false)
        }
    }

    private func subscribe() {
        let schema = database.loader.schema
        subscription = client.client.subscribe(to: [schema.changesChannel, schema.eventsChannel]) { [unowned self] change in
            // What was said while nobody listened is in the streams.
            if change == .listening { (isWoken, hasChanges, hasEvents) = (true, true, true) }
        } onMessage: { [unowned self] channel, _ in
            isWoken = true
            if channel == schema.eventsChannel { hasEvents = true } else { hasChanges = true }
        }
    }

    /// Brings the copy up to date, so that what follows is based on what other nodes have told by now.
    private func synchronise() {
        guard client.client.state.isConnected else { return }
        do {
            if mustReload { try reload() } else { try catchUp() }
        } catch {
            // Away again: the next turn, or the connection, tries it once more.
        }
        if hasEvents {
            hasEvents = false
            outlets.onEvents()
        }
    }

    /// Whether the copy is that of the servers that answer now, which is waited for a moment.
    private func isUpToDate() -> Bool {
        guard mustReload else { return true }
        do {
            try client.requireConnection()
            try reload()
            return true
        } catch {
            return false
        }
    }

    private func reload() throws(StoreError) {
        let runIDs = client.client.state.runIDs
        guard try hasData() else { throw .away }
        try database.reload()
        (self.runIDs, mustReload) = (runIDs, false)
        statistics.reloads += 1
        outlets.onNotice(.reloaded(records: database.copy.recordCount))
        tell(unreadable: database.unreadable)
    }

    /// Servers that came back empty may be restored: until then nobody's stage is gone, and nothing that is live ends.
    private func hasData() throws(StoreError) -> Bool {
        let hasData = try database.hasData()
        if hasData == isLost {
            isLost = !hasData
            outlets.onNotice(hasData ? .back : .away(reason: Self.lost))
        }
        return hasData
    }

    private static let lost = "it has lost the platform's data: restore it, or restart a node to begin with nothing"

    private func catchUp() throws(StoreError) {
        guard hasChanges || isPollDue else { return }
        if isPollDue { hasEvents = true }
        (hasChanges, lastPoll) = (false, EventLoop.monotonicNow())
        database.doubtExpired(at: EventLoop.wallNow())
        switch try database.catchUp() {
        case .lostTrack:
            mustReload = true
            try reload()
        case .followed(let unreadable):
            tell(unreadable: unreadable)
        }
    }

    private func tell(unreadable keys: [String]) {
        for key in keys { outlets.onNotice(.unreadable(key: key)) }
    }

    private var isPollDue: Bool {
        let now = EventLoop.monotonicNow()
        return now - lastPoll >= Self.pollInterval || database.deadline.map { $0 <= now } ?? false
    }

    private func count() {
        statistics.records = database.copy.recordCount
        statistics.conflicts = database.conflicts
        if database.replicaMisses > statistics.replicaMisses {
            outlets.onNotice(.notReplicated(total: database.replicaMisses))
        }
        (statistics.forwarded, statistics.replicaMisses) = (feed.forwarded, database.replicaMisses)
        outlets.count(statistics)
    }
}
