import Admission
import GatewayLogging
import SRTP
import Wire

/// A router that speaks the announce protocol of docs/stage-router.md. Confined to the control loop.
final class AnnounceDriver: RouterDriver {
    struct Configuration: Sendable, Equatable {
        var name: String
        /// Absolute, without a slash at its end.
        var url: String
        var bearer: Secret?
        var trust: RouterTrust
        /// SRTP, if the channel is trusted: verified HTTPS, or loopback.
        var protection: SRTPProfile?
        /// What the offer names as our media's source where the worker's socket has no address of its own; nil: the one from
        /// which the router is first asked for its health.
        var sourceAddress: IPAddress?
        /// Without, a router that could take layers is not asked.
        var offersLayers = true

        init(
            name: String, url: String, bearer: Secret? = nil, trust: RouterTrust, protection: SRTPProfile? = nil,
            sourceAddress: IPAddress? = nil
        ) {
            (self.name, self.url, self.bearer, self.trust) = (name, HTTPOrigin.base(of: url), bearer, trust)
            (self.protection, self.sourceAddress) = (protection, sourceAddress)
        }
    }

    var name: String { configuration.name }
    var hasHealth: Bool { true }
    private let configuration: Configuration
    private var messages: AnnounceMessages
    private let http: any RouterHTTP
    private var standing = StandingAnnounces()
    private var changes = AnnouncedChanges(maximumRepetitions: AnnounceDriver.maximumRepetitions)
    private var doubted = DoubtedAnnounces()
    private var bootID: String?

    /// - Parameter gatewayID: the same for all workers of a process, another for every process.
    init(_ configuration: Configuration, gatewayID: String, http: any RouterHTTP) {
        (self.configuration, self.http) = (configuration, http)
        messages = AnnounceMessages(configuration, gatewayID: gatewayID)
    }

    func announce(_ announcement: Announcement, reply: @escaping (Result<LegPlan, AnnounceFailure>) -> Void) {
        changes.forget(announcement.participant)
        let former = doubted.take(announcement.participant)
        let offer = AnnounceOffer(of: announcement, by: configuration)
        let request = messages.announce(announcement, offer.draft)
        http.send(request, deadline: Self.answerDeadline) { [weak self] response in
            guard let self else { return }
            switch response?.status {
            case nil: doubted.add(announcement)
            // It has replaced what there was.
            case 201: break
            default: if let former { doubted.add(former) }
            }
            reply(Result { () throws(AnnounceFailure) in try accept(response, to: request, announcement, offer) })
        }
    }

    private func accept(
        _ response: RouterResponse?, to request: RouterRequest, _ announcement: Announcement, _ offer: AnnounceOffer
    ) throws(AnnounceFailure) -> LegPlan {
        guard let response else { throw .noAnswer }
        if response.status == 409 { throw .staleGeneration }
        guard response.status == 201 else { throw .refused(status: response.status) }
        guard let location = response.locationURL(from: request) else {
            if !standing.haveReplaced(announcement) { forsake(announcement, response, request) }
            throw .unacceptable(Self.noLocation)
        }
        // The answer to an earlier one may come late: the router has replaced what that made.
        let isReplaced = standing.haveReplaced(announcement)
        do throws(AnnounceFailure) {
            let plan = try offer.plan(by: response)
            if !isReplaced { standing.add(announcement, at: location, offer.standing(by: plan)) }
            return plan
        } catch {
            // Our lease would keep there what we send nothing to.
            if !isReplaced { end(announcement, at: location, .refused) }
            throw error
        }
    }

    /// The router holds what we cannot name: it is looked for behind the lease, if it is not where it was only called otherwise,
    /// as a proxy does.
    private func forsake(_ announcement: Announcement, _ response: RouterResponse, _ request: RouterRequest) {
        doubted.add(announcement)
        endNearby(announcement, response, request)
    }

    private func endNearby(_ announcement: Announcement, _ response: RouterResponse, _ request: RouterRequest) {
        guard let nearby = response.location.flatMap({ HTTPOrigin.path(of: $0, at: request.url) }) else { return }
        end(announcement, at: nearby, .refused)
    }

    private static let noLocation = "Location is missing or of another origin"

    /// Where the participant's announce lives at the router.
    func location(of participant: ParticipantKey) -> String? { standing[participant]?.location }

    func update(_ announcement: Announcement) {
        if !changes.postpone(announcement) { tell(announcement) }
    }

    private func tell(_ announcement: Announcement, repetitions: Int = 0) {
        guard let announced = standing[announcement.participant] else { return }
        let change = changes.begin(announcement, repetitions: repetitions)
        let request = messages.change(announcement, announced.offer, at: announced.location)
        http.send(request, deadline: Self.answerDeadline) { [weak self] response in
            guard let self, let next = changes.answered(change, isInTime: response != nil) else { return }
            tell(next.announcement, repetitions: next.repetitions)
        }
    }

    func withdraw(_ announcement: Announcement, reason: WithdrawalReason) {
        changes.forget(announcement.participant)
        guard let announced = standing.remove(announcement.participant) else { return }
        end(announcement, at: announced.location, reason)
    }

    private func end(_ announcement: Announcement, at location: String, _ reason: WithdrawalReason) {
        end(announcement.participant, by: location + "?generation=\(announcement.generation)&reason=\(reason.rawValue)")
    }

    private func end(_ participant: ParticipantKey, by url: String) {
        http.send(messages.end(by: url), deadline: Self.answerDeadline) { [weak self] response in
            guard let self, response == nil else { return }
            standing.keepEnd(of: participant, by: url)
        }
    }

    func checkHealth(reply: @escaping (Bool) -> Void) {
        http.send(messages.health, deadline: Self.healthDeadline) { [weak self] response in
            if let own = response?.ownAddress { self?.messages.learn(sourceAddress: own) }
            reply(response.map { 200...299 ~= $0.status } ?? false)
        }
    }

    func renewLease(_ participants: [Announcement], reply: @escaping ([ParticipantKey]) -> Void) {
        let asked = doubted.all
        http.send(messages.lease(of: participants), deadline: Self.answerDeadline) { [weak self] response in
            guard let self, let answer = LeaseAnswer(response) else { return reply([]) }
            let lost = answer.lost(of: participants, since: bootID)
            bootID = answer.bootID
            reply(lost)
            // It hears us again; what was announced anew meanwhile is not among them.
            for announcement in changes.untold { tell(announcement) }
            for (participant, url) in standing.takeUntoldEnds() { end(participant, by: url) }
            for announcement in doubted.settle(asked, by: answer.surplus(over: participants)) { find(announcement) }
        }
    }

    /// What the router holds by an announce without an answer is announced once more, which tells where it is, and ended. Where a
    /// later announce stands meanwhile, its higher generation keeps it from both.
    private func find(_ announcement: Announcement) {
        guard standing[announcement.participant] == nil else { return }
        let request = messages.announce(announcement, AnnounceOffer(of: announcement, by: configuration).draft)
        http.send(request, deadline: Self.answerDeadline) { [weak self] response in
            guard let self else { return }
            guard let response else { return doubted.add(announcement) }
            guard response.status == 201 else { return }
            guard let location = response.locationURL(from: request) else {
                return giveUp(announcement, response, request)
            }
            end(announcement, at: location, .moved)
        }
    }

    /// It says so again: only an operator can help.
    private func giveUp(_ announcement: Announcement, _ response: RouterResponse, _ request: RouterRequest) {
        endNearby(announcement, response, request)
        Log.event(
            .error, "router_keeps_participant",
            [
                "router": .string(name), "participant": .string(announcement.participantID), "reason": .string(Self.noLocation),
            ])
    }

    /// A change that gets no answer is told again so often at once.
    static let maximumRepetitions = 3
    static let answerDeadline = Duration.seconds(2)
    static let healthDeadline = Duration.seconds(1)
}

extension RouterResponse {
    /// The absolute URL of its `Location`; nil without one, and for one of another origin.
    fileprivate func locationURL(from request: RouterRequest) -> String? {
        location.flatMap { HTTPOrigin.resolve($0, from: request.url) }
    }
}
