public import Admission
import JSON
import OpenSSL
import RTP
public import SRTP
import StageHub
public import Wire

/// A router that speaks the announce protocol of docs/stage-router.md. Confined to the control loop.
public final class AnnounceDriver: RouterDriver {
    public struct Configuration: Sendable, Equatable {
        public var name: String
        /// Absolute, without a slash at its end.
        public var url: String
        public var bearer: Secret?
        public var trust: RouterTrust
        /// SRTP, if the channel is trusted: verified HTTPS, or loopback.
        public var protection: SRTPProfile?
        /// What the offer names as our media's source where the worker's socket has no address of its own.
        public var sourceAddress: IPAddress
        /// Without, a router that could take layers is not asked.
        public var offersLayers = true

        public init(
            name: String, url: String, bearer: Secret? = nil, trust: RouterTrust, protection: SRTPProfile? = nil,
            sourceAddress: IPAddress = .loopback
        ) {
            (self.name, self.url, self.bearer, self.trust) = (name, url, bearer, trust)
            (self.protection, self.sourceAddress) = (protection, sourceAddress)
        }
    }

    public var name: String { configuration.name }
    public var hasHealth: Bool { true }
    private let configuration: Configuration
    private let gatewayID: String
    private let http: any RouterHTTP
    /// Where each participant's announce lives at the router, and what of its offer was taken.
    private var announced: [ParticipantKey: (location: String, offer: LegPlan, generation: UInt64)] = [:]
    /// Changes that have no answer yet: one for each participant, so that none overtakes another on its way.
    private var updates: [ParticipantKey: Update] = [:]
    private var updateCount = 0
    /// Changes that no repetition brought to the router: told again behind the next lease that it renews, 5 s later at most.
    private var untold: [ParticipantKey: Announcement] = [:]
    /// The same of ends, by what is to be deleted: while our lease lives, the router would keep the participant for good.
    private var untoldEnds: [ParticipantKey: String] = [:]
    /// The last announces of those that got no answer: the router may hold them, and has not said where.
    private var unanswered: [ParticipantKey: Announcement] = [:]
    private var bootID: String?

    private struct Update {
        var number: Int
        /// What has changed meanwhile; the newest counts.
        var next: Announcement?
    }

    /// Beyond it nobody looks for what a lost answer has made.
    static let maximumUnanswered = 1_024
    /// A change that gets no answer is told again so often at once. A router that is dead is found by its health.
    static let maximumRepetitions = 3
    static let answerDeadline = Duration.seconds(2)
    static let healthDeadline = Duration.seconds(1)

    /// - Parameter gatewayID: the same for all workers of a process, another for every process.
    public init(_ configuration: Configuration, gatewayID: String, http: any RouterHTTP) {
        (self.configuration, self.gatewayID, self.http) = (configuration, gatewayID, http)
    }

    public func announce(_ announcement: Announcement, reply: @escaping (Result<LegPlan, AnnounceFailure>) -> Void) {
        forgetChanges(of: announcement.participant)
        let doubted = unanswered.removeValue(forKey: announcement.participant)
        let draft = draft(for: announcement)
        let request = request(of: announcement, draft)
        http.send(request, deadline: Self.answerDeadline) { [weak self] response in
            guard let self else { return }
            switch response?.status {
            case nil: remember(unanswered: announcement)
            // It has replaced what there was.
            case 201: break
            default: if let doubted { remember(unanswered: doubted) }
            }
            reply(Result { () throws(AnnounceFailure) in try accept(response, from: request.url, announcement, draft) })
        }
    }

    private func remember(unanswered announcement: Announcement) {
        if unanswered.count < Self.maximumUnanswered { unanswered[announcement.participant] = announcement }
    }

    /// Where the participant's announce lives at the router.
    func location(of participant: ParticipantKey) -> String? { announced[participant]?.location }

    public func update(_ announcement: Announcement) {
        guard updates[announcement.participant] == nil else {
            updates[announcement.participant]?.next = announcement
            return
        }
        change(announcement, repetitions: 0)
    }

    private func change(_ announcement: Announcement, repetitions: Int) {
        guard let (location, offer, _) = announced[announcement.participant] else { return }
        updateCount += 1
        let number = updateCount
        updates[announcement.participant] = Update(number: number)
        untold[announcement.participant] = nil
        var body = announcement.changes(offer)
        body["sdp"] = .string(description(of: announcement, offer).text)
        http.send(request("PATCH", location, body), deadline: Self.answerDeadline) { [weak self] response in
            guard let self, updates[announcement.participant]?.number == number else { return }
            if let next = updates.removeValue(forKey: announcement.participant)?.next {
                change(next, repetitions: 0)
            } else if response == nil, repetitions < Self.maximumRepetitions {
                change(announcement, repetitions: repetitions + 1)
            } else if response == nil {
                untold[announcement.participant] = announcement
            }
        }
    }

    private func forgetChanges(of participant: ParticipantKey) {
        updates[participant] = nil
        untold[participant] = nil
    }

    public func withdraw(_ announcement: Announcement, reason: String) {
        forgetChanges(of: announcement.participant)
        guard let standing = announced.removeValue(forKey: announcement.participant) else { return }
        end(announcement, at: standing.location, reason)
    }

    private func end(_ announcement: Announcement, at location: String, _ reason: String) {
        end(announcement.participant, by: location + "?generation=\(announcement.generation)&reason=\(reason)")
    }

    private func end(_ participant: ParticipantKey, by url: String) {
        http.send(request("DELETE", url), deadline: Self.answerDeadline) { [weak self] response in
            guard let self, response == nil, announced[participant] == nil else { return }
            untoldEnds[participant] = url
        }
    }

    public func checkHealth(reply: @escaping (Bool) -> Void) {
        http.send(request("GET", configuration.url + "/healthz"), deadline: Self.healthDeadline) { response in
            reply(response.map { 200...299 ~= $0.status } ?? false)
        }
    }

    public func renewLease(_ participants: [Announcement], reply: @escaping ([ParticipantKey]) -> Void) {
        let body: JSONObject = [
            "participants": .integer(Int64(participants.count)), "hash": .string(Self.hash(participants)),
        ]
        let url = configuration.url + "/v1/gateways/\(gatewayID)"
        let doubted = Array(unanswered.values)
        http.send(request("PUT", url, body), deadline: Self.answerDeadline) { [weak self] response in
            guard let self, let response, response.status == 200, let answer = try? JSONValue(parsing: response.body) else {
                return reply([])
            }
            reply(lost(participants, by: answer))
            // It hears us again; what was announced anew meanwhile is not among them.
            for announcement in untold.values { change(announcement, repetitions: 0) }
            let ends = untoldEnds
            untoldEnds = [:]
            for (participant, url) in ends { end(participant, by: url) }
            let surplus = Self.surplus(answer["participants"]?.array ?? [], over: participants)
            for announcement in doubted where unanswered[announcement.participant] == announcement {
                unanswered[announcement.participant] = nil
                if surplus[announcement.participantID, default: 0] > 0 { find(announcement) }
            }
        }
    }

    /// What the router holds by an announce without an answer is announced once more, which tells where it is, and ended. Where a later
    /// announce stands meanwhile, its higher generation keeps it from both.
    private func find(_ announcement: Announcement) {
        guard announced[announcement.participant] == nil else { return }
        let request = request(of: announcement, draft(for: announcement))
        http.send(request, deadline: Self.answerDeadline) { [weak self] response in
            guard let self else { return }
            guard let response else { return remember(unanswered: announcement) }
            guard response.status == 201, let location = response.location.flatMap({ HTTPOrigin.resolve($0, from: request.url) })
            else { return }
            end(announcement, at: location, "moved")
        }
    }

    /// Of "participantId generation" lines, sorted, each ended by a line feed: SHA-256 in lower case hex.
    static func hash(_ participants: [Announcement]) -> String {
        let lines = participants.map { "\($0.participantID) \($0.generation)\n" }.sorted().joined()
        return String(hexadecimal: Digest.sha256(Array(lines.utf8)))
    }

    /// All of them when the router has begun anew, else those that its answer does not list: an id that two stages have, twice.
    private func lost(_ participants: [Announcement], by answer: JSONValue) -> [ParticipantKey] {
        let boot = answer["bootId"]?.string
        defer { bootID = boot }
        if let bootID, boot != bootID { return participants.map(\.participant) }
        guard let known = answer["participants"]?.array else { return [] }
        let surplus = Self.surplus(known, over: participants)
        return participants.map(\.participant).filter { surplus[$0.participantID, default: 0] < 0 }
    }

    /// How many more of each id the router holds than are live there; negative where it has lost some.
    private static func surplus(_ known: [JSONValue], over participants: [Announcement]) -> [String: Int] {
        var surplus: [String: Int] = [:]
        for id in known.compactMap(\.string) { surplus[id, default: 0] += 1 }
        for announcement in participants { surplus[announcement.participantID, default: 0] -= 1 }
        return surplus
    }
}

// MARK: - Messages

extension AnnounceDriver {
    private func request(of announcement: Announcement, _ draft: LegPlan) -> RouterRequest {
        var body = announcement.json(draft)
        body["gatewayId"] = .string(gatewayID)
        body["sdp"] = .string(description(of: announcement, draft).text)
        return request("POST", configuration.url + "/v1/participants", body)
    }

    /// Fresh SSRCs and a fresh key; where media goes is for the answer to say.
    private func draft(for announcement: Announcement) -> LegPlan {
        let nowhere = SocketAddress(.anyV4, port: 0)
        func draft(_ track: TrackID, rid: LayerName? = nil) -> TrackPlan {
            var plan = TrackPlan(
                track: track, ssrc: max(1, Random.integer(UInt32.self)), payloadType: LegPlan.payloadType(of: track.kind),
                rtp: nowhere, rtcp: nowhere)
            (plan.isLayer, plan.rid) = (rid != nil, rid)
            return plan
        }
        let offered = configuration.offersLayers ? announcement.layers : []
        let layers = offered.map { draft($0.track, rid: $0.rid) }.sorted { $0.place < $1.place }
        let tracks = announcement.kinds.flatMap { $0 == .video && !layers.isEmpty ? layers : [draft(TrackID($0))] }
        var plan = LegPlan(cname: announcement.participantID, tracks: tracks)
        plan.router = name
        if HTTPOrigin.isPrivate(configuration.url) { plan.keys = configuration.protection.map(SRTPKeys.random) }
        return plan
    }

    private func description(of announcement: Announcement, _ plan: LegPlan) -> RouterDescription {
        let ip = announcement.source.ip.isUnspecified ? configuration.sourceAddress : announcement.source.ip
        var description = RouterDescription(
            participantID: announcement.participantID, sessionVersion: announcement.generation, address: ip,
            tracks: announcement.kinds.compactMap { kind in
                let plans = plan.tracks.filter { $0.track.kind == kind }
                guard !plans.isEmpty else { return nil }
                var track = RouterDescription.Track(
                    kind, port: announcement.source.port, ssrcs: plans.map(\.ssrc), format: announcement.formats[kind])
                track.rids = plans.compactMap(\.rid)
                return track
            }, isOffer: true)
        description.crypto = plan.keys?.crypto
        return description
    }

    private func accept(
        _ response: RouterResponse?, from url: String, _ announcement: Announcement, _ draft: LegPlan
    ) throws(AnnounceFailure) -> LegPlan {
        guard let response else { throw .noAnswer }
        if response.status == 409 { throw .staleGeneration }
        guard response.status == 201 else { throw .refused(status: response.status) }
        guard let location = response.location.flatMap({ HTTPOrigin.resolve($0, from: url) }) else {
            throw .unacceptable("Location is missing or of another origin")
        }
        // The answer to an earlier one may come late: the router has replaced what that made.
        let isReplaced = announced[announcement.participant].map { $0.generation > announcement.generation } ?? false
        do throws(AnnounceFailure) {
            let plan = try plan(by: response.body, announcement, draft)
            if !isReplaced { stands(announcement, at: location, draft, plan) }
            return plan
        } catch {
            // Our lease would keep there what we send nothing to.
            if !isReplaced { end(announcement, at: location, "refused") }
            throw error
        }
    }

    private func stands(_ announcement: Announcement, at location: String, _ draft: LegPlan, _ plan: LegPlan) {
        var offer = draft
        offer.tracks.removeAll { track in !plan.tracks.contains { $0.track.kind == track.track.kind } }
        announced[announcement.participant] = (location, offer, announcement.generation)
        // This announce has replaced what there was.
        untoldEnds[announcement.participant] = nil
    }

    private func plan(
        by body: [UInt8], _ announcement: Announcement, _ draft: LegPlan
    ) throws(AnnounceFailure) -> LegPlan {
        guard let sdp = (try? JSONValue(parsing: body))?["sdp"]?.string else { throw .unacceptable("no SDP answer") }
        let answer = try RouterAnswer(
            sdp, offered: announcement.kinds, layers: draft.tracks.compactMap(\.rid), isProtected: draft.keys != nil,
            trust: configuration.trust)
        var plan = draft
        plan.feedbackKeys = answer.feedbackKeys
        plan.tracks = zip(announcement.kinds, answer.tracks).flatMap { kind, answer in
            answer.map { $0.taken(of: draft.tracks.filter { $0.track.kind == kind }) } ?? []
        }
        plan.isLayerless =
            !configuration.offersLayers || draft.tracks.contains(where: \.isLayer) && !plan.tracks.contains(where: \.isLayer)
        return plan
    }

    private func request(_ method: String, _ url: String, _ body: JSONObject? = nil) -> RouterRequest {
        var headers: [(name: String, value: String)] = [("Accept", "application/json")]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        if let bearer = configuration.bearer { headers.append(("Authorization", "Bearer \(bearer.revealText())")) }
        return RouterRequest(
            method: method, url: url, headers: headers, body: body.map { JSONValue.object($0).serialized() } ?? [])
    }
}

extension RouterAnswer.Track {
    /// The plans of one kind that the answer takes: layers, or one track on the first SSRC.
    fileprivate func taken(of offered: [TrackPlan]) -> [TrackPlan] {
        var plans = offered
        if layers.isEmpty {
            plans = offered.prefix(1).map { first in
                var plan = first
                (plan.track, plan.isLayer, plan.rid) = (TrackID(first.track.kind), false, nil)
                return plan
            }
        }
        return plans.compactMap { offered in
            guard let rid = offered.rid else { return placed(offered) }
            guard let layer = layers.first(where: { $0.rid == rid }) else { return nil }
            var plan = placed(offered)
            (plan.isPaused, plan.headerExtension) = (layer.isPaused, headerExtension(of: rid))
            return plan
        }
    }

    private func placed(_ plan: TrackPlan) -> TrackPlan {
        var plan = plan
        (plan.rtp, plan.rtcp, plan.isNACKed) = (rtp, rtcp, isNACKed)
        return plan
    }

    private func headerExtension(of rid: LayerName) -> [UInt8] {
        var elements: [(id: UInt8, value: [UInt8])] = []
        if takesMID { elements.append((RouterDescription.ExtensionID.mid, Array(RouterDescription.mid(of: .video).utf8))) }
        if takesRID { elements.append((RouterDescription.ExtensionID.rid, Array(rid.rawValue.utf8))) }
        return HeaderExtensions.oneByte(elements)
    }
}

extension TrackPlan {
    /// Of its layer in the offer.
    fileprivate var place: Int { rid.flatMap { LayerName.allCases.firstIndex(of: $0) } ?? 0 }
}

extension Announcement {
    /// The body of the announce, without the offer.
    fileprivate func json(_ offer: LegPlan) -> JSONObject {
        var body: JSONObject = [
            "stageArn": .string(grant.stageARN), "stageId": .string(grant.stageID), "sessionId": .string(sessionID),
            "participantId": .string(participantID), "userId": .string(grant.userID),
            "attributes": .object(JSONObject(grant.attributes.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
            "protocol": .string(ingestProtocol.rawValue),
        ]
        for (name, value) in changes(offer).members { body[name] = value }
        return body
    }

    /// What may change while the announce stands.
    fileprivate func changes(_ offer: LegPlan) -> JSONObject {
        var body: JSONObject = [
            "generation": .integer(Int64(clamping: generation)), "pli": .bool(acceptsKeyframeRequests),
            "muted": .array(kinds.filter { muted.contains(TrackID($0)) }.map { .string($0 == .video ? "video" : "audio") }),
        ]
        let layers = layers.compactMap { layer in offer.tracks.first { $0.rid == layer.rid }.map { layer.json(ssrc: $0.ssrc) } }
        if !layers.isEmpty { body["layers"] = .array(layers) }
        return body
    }
}

extension AnnouncedLayer {
    fileprivate func json(ssrc: UInt32) -> JSONValue {
        [
            "rid": .string(rid.rawValue), "ssrc": .integer(Int64(ssrc)), "active": .bool(isActive),
            "width": .integer(Int64(width)), "height": .integer(Int64(height)),
            "framerate": .integer(Int64(framesPerSecond)), "bitrate": .integer(Int64(bitsPerSecond)),
        ]
    }
}
