public import Admission
import EventLoop
public import JSON
public import Monitoring
import Refusals
public import WebRTCTransport
import Wire

/// What all workers' WHIP parts share: transport, directory, who may publish, leases and reports.
public final class WHIPContext: Sendable {
    public let transport: TransportContext
    public let directory = SessionDirectory()
    /// What tokens are shown to.
    let authorizer: any Authorizer
    let leases: any PublishLeases
    let reports: any PublishReports
    /// Told of refusals; the publication's host follows publishes there.
    let board: SessionBoard
    let metrics: WHIPMetrics
    let takeovers = Lock<TakeoverGuard>(TakeoverGuard())

    public init(
        transport: TransportContext, authorizer: any Authorizer, leases: any PublishLeases, reports: any PublishReports,
        board: SessionBoard, metrics: WHIPMetrics
    ) {
        (self.transport, self.authorizer, self.leases) = (transport, authorizer, leases)
        (self.reports, self.board, self.metrics) = (reports, board, metrics)
    }

    // MARK: - Ends

    /// Ends the sessions whose tokens were taken away before anybody claimed them; those that publish end by their leases.
    /// Called once or twice a second.
    public func endPending(refusedBy standing: any TokenStanding) {
        for entry in directory.pendingEntries {
            guard let refusal = entry.grant.bearer.flatMap({ standing.refusal(of: $0) }) else { continue }
            transport.end(entry, .refused(refusal))
        }
    }

    /// The last step of every session, after its worker has let go of it.
    func finish(_ entry: SessionEntry, _ reason: SessionEnd) {
        let advertised = transport.advertisedAddresses.map(\.description).joined(separator: ", ")
        let now = EventLoop.wallNow()
        entry.content.withLock {
            $0.story.end(at: now, reason, advertised: "UDP " + advertised)
            $0.ending = (reason, EventLoop.monotonicNow())
        }
        // Its story is asked for from here on, and has its verdict.
        directory.finish(entry)
        transport.remove(entry)
        let actions = entry.publish.withLock { $0.ended(reason) }
        entry.request.place.giveBack()
        SessionLog.ended(entry)
        metrics.ended(entry.story, reason)
        if case .refused(let refusal) = reason {
            board.note(
                RefusedAttempt(
                    refusal, of: entry.grant, by: .whip, from: entry.source, userAgent: entry.userAgent,
                    wasLive: entry.story.contains(.leaseGranted), sessionID: entry.id))
        }
        perform(actions)
    }

    /// What a publish leaves to be done when it has ended.
    private func perform(_ actions: [PublishMachine.Action]) {
        for action in actions {
            switch action {
            case .fail(let lease, let refusal): reports.publishFailed(lease, refusal)
            // A lease that was taken over is of an older generation and changes nothing; that of a pending session which a
            // newer POST replaced is nobody's yet.
            case .release(let lease): leases.release(lease)
            // Its worker has ended its media, and its encoder hears of it by DTLS, or by the answer to its POST.
            default: break
            }
        }
    }

    // MARK: - Story

    /// A live or lately finished session as `GET /v1/sessions/{id}` tells it; nil when there is none.
    public func sessionJSON(id: String) -> JSONValue? {
        let live = directory.entry(id: id)
        guard let entry = live ?? directory.finishedEntry(id: id) else { return nil }
        var object = JSONObject()
        object["sessionId"] = .string(entry.id)
        object["protocol"] = .string("WHIP")
        object["participantId"] = .string(entry.grant.participantID)
        object["stageArn"] = .string(entry.grant.stageARN)
        object["state"] = .string(live == nil ? "ended" : entry.ownership == .pending ? "pending" : "live")
        object["source"] = .string(entry.source.description)
        object["userAgent"] = .string(entry.userAgent)
        let record = board.session(id: id)
        var story = entry.story.json(mutes: record?.mutes ?? [])
        story["warnings"] = record?.warningsJSON ?? []
        object["story"] = .object(story)
        object["media"] = entry.figures?.json
        return .object(object)
    }
}

extension PublishMachine {
    fileprivate mutating func ended(_ reason: SessionEnd) -> [Action] {
        if case .refused(let refusal) = reason { refused(refusal) } else { ended() }
    }
}
