import Admission
import EventLoop
import OpenSSL
import Refusals
import Wire

/// Everybody who watches on this node, by one of its ways, with a place. Shared by all workers; media never comes here.
final class ViewerRegistry: Sendable {
    struct Viewer: Sendable {
        var grant: SubscribeGrant
        var token: Secret
        var source: IPAddress
        /// Ends it, from any thread.
        var end: @Sendable (Refusal) -> Void
    }

    private struct Entry {
        var grant: SubscribeGrant
        var end: @Sendable (Refusal) -> Void
    }

    private struct Content {
        var places: ViewerPlaces
        var entries: [UInt64: Entry] = [:]
        var lastNumber: UInt64 = 0
    }

    /// What its viewers are, for the words of refusals.
    enum Kind { case sessions, pages }

    private let kind: Kind
    private let content: Lock<Content>

    init(of kind: Kind, _ limits: ViewerPlaces.Limits) {
        (self.kind, content) = (kind, Lock(Content(places: ViewerPlaces(limits))))
    }

    var count: Int { content.withLock { $0.entries.count } }

    /// Everybody's stage and id.
    var bearers: Set<TokenBearer> { content.withLock { Set($0.entries.values.map(\.grant.bearer)) } }

    /// Gives a viewer a place, and ends those that make way for it.
    /// - Returns: the place's number, to settle and to leave with.
    func enter(_ viewer: Viewer) throws(Refusal) -> UInt64 {
        let token = Digest.sha256(viewer.token.reveal())
        let answer = content.withLock { content -> Result<(UInt64, [Entry]), ViewerPlaces.Full> in
            let number = content.lastNumber + 1
            let place = ViewerPlaces.Place(
                number: number, token: token, address: viewer.source, stageID: viewer.grant.stageID)
            return Result { () throws(ViewerPlaces.Full) in
                let displaced = try content.places.take(place)
                content.lastNumber = number
                content.entries[number] = Entry(grant: viewer.grant, end: viewer.end)
                return (number, displaced.compactMap { content.entries.removeValue(forKey: $0) })
            }
        }
        switch answer {
        case .success(let (number, displaced)):
            for entry in displaced { entry.end(Refusal(.tooManySubscribers, sentence: kind.displaced)) }
            return number
        case .failure(let full): throw Refusal(.tooManySubscribers, sentence: kind.sentence(of: full.bound))
        }
    }

    func settle(_ number: UInt64) { content.withLock { $0.places.settle(number) } }

    /// - Returns: false when it had left before, or made way.
    @discardableResult
    func leave(_ number: UInt64) -> Bool {
        content.withLock { content in
            content.entries[number] = nil
            return content.places.leave(number)
        }
    }

    /// Ends those whose tokens were taken away since.
    func end(refusedBy standing: any TokenStanding) {
        for (number, entry) in content.withLock({ $0.entries }) {
            guard let refusal = standing.refusal(of: entry.grant.bearer), leave(number) else { continue }
            entry.end(refusal)
        }
    }
}

extension ViewerRegistry.Kind {
    fileprivate var displaced: String {
        switch self {
        case .sessions: "A newer session has this one's place: it was not connected yet."
        case .pages: "A newer watch page has this one's place: close one of them."
        }
    }

    /// Bounds of sessions are configured, those of pages are not; nil where the table's own words say it.
    fileprivate func sentence(of bound: ViewerPlaces.Bound) -> String? {
        switch (self, bound) {
        case (.sessions, .token):
            "This token watches as often as it may (embedded.subscribersPerToken): end one of its sessions."
        case (.sessions, .address):
            "Your address watches as often as it may (embedded.subscribersPerAddress): end one of its sessions."
        case (.sessions, .stage):
            "This stage is watched as often as it may be (embedded.subscribersPerStage): try again later."
        case (.sessions, .total): nil
        case (.pages, .token): "This token has as many watch pages open as it may: close one of them."
        case (.pages, .address): "Your address has as many watch pages open as it may: close one of them."
        case (.pages, .stage): "This stage has as many watch pages open as it may: try again later."
        case (.pages, .total): "This gateway has as many watch pages open as it may: try again later."
        }
    }
}
