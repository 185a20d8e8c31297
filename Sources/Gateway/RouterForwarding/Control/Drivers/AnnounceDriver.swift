public import Admission
import JSON
import OpenSSL
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
    /// Where each participant's announce lives at the router, and the description it was given.
    private var announced: [ParticipantKey: (location: String, plan: LegPlan)] = [:]
    /// Changes that have no answer yet: one for each participant, so that none overtakes another on its way.
    private var updates: [ParticipantKey: Update] = [:]
    private var updateCount = 0
    private var bootID: String?

    private struct Update {
        var number: Int
        /// What has changed meanwhile; the newest counts.
        var next: Announcement?
    }

    /// A change that gets no answer is told again so often. A router that is dead is found by its health.
    static let maximumRepetitions = 3
    static let answerDeadline = Duration.seconds(2)
    static let healthDeadline = Duration.seconds(1)

    /// - Parameter gatewayID: the same for all workers of a process, another for every process.
    public init(_ configuration: Configuration, gatewayID: String, http: any RouterHTTP) {
        (self.configuration, self.gatewayID, self.http) = (configuration, gatewayID, http)
    }

    public func announce(_ announcement: Announcement, reply: @escaping (Result<LegPlan, AnnounceFailure>) -> Void) {
        updates[announcement.participant] = nil
        let draft = draft(for: announcement)
        var body = announcement.json
        body["gatewayId"] = .string(gatewayID)
        body["sdp"] = .string(description(of: announcement, draft).text)
        let url = configuration.url + "/v1/participants"
        http.send(request("POST", url, body), deadline: Self.answerDeadline) { [weak self] response in
            guard let self else { return }
            reply(Result { () throws(AnnounceFailure) in try accept(response, from: url, announcement, draft) })
        }
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
        guard let (location, plan) = announced[announcement.participant] else { return }
        updateCount += 1
        let number = updateCount
        updates[announcement.participant] = Update(number: number)
        var body = announcement.changes
        body["sdp"] = .string(description(of: announcement, plan).text)
        http.send(request("PATCH", location, body), deadline: Self.answerDeadline) { [weak self] response in
            guard let self, updates[announcement.participant]?.number == number else { return }
            if let next = updates.removeValue(forKey: announcement.participant)?.next {
                change(next, repetitions: 0)
            } else if response == nil, repetitions < Self.maximumRepetitions {
                change(announcement, repetitions: repetitions + 1)
            }
        }
    }

    public func withdraw(_ announcement: Announcement, reason: String) {
        updates[announcement.participant] = nil
        guard let (location, _) = announced.removeValue(forKey: announcement.participant) else { return }
        let query = "?generation=\(announcement.generation)&reason=\(reason)"
        http.send(request("DELETE", location + query), deadline: Self.answerDeadline) { _ in }
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
        http.send(request("PUT", url, body), deadline: Self.answerDeadline) { [weak self] response in
            guard let self, let response, response.status == 200, let answer = try? JSONValue(parsing: response.body) else {
                return reply([])
            }
            reply(lost(participants, by: answer))
        }
    }

    /// Of "participantId generation" lines, sorted, each ended by a line feed: SHA-256 in lower case hex.
    static func hash(_ participants: [Announcement]) -> String {
        let lines = participants.map { "\($0.participantID) \($0.generation)\n" }.sorted().joined()
        return String(hexadecimal: Digest.sha256(Array(lines.utf8)))
    }

    /// All of them when the router has begun anew, else those that its answer does not list.
    private func lost(_ participants: [Announcement], by answer: JSONValue) -> [ParticipantKey] {
        let boot = answer["bootId"]?.string
        defer { bootID = boot }
        if let bootID, boot != bootID { return participants.map(\.participant) }
        guard let known = answer["participants"]?.array else { return [] }
        let held = Set(known.compactMap(\.string))
        return participants.map(\.participant).filter { !held.contains($0.participantID) }
    }
}

// MARK: - Messages

extension AnnounceDriver {
    /// Fresh SSRCs and a fresh key; where media goes is for the answer to say.
    private func draft(for announcement: Announcement) -> LegPlan {
        let nowhere = SocketAddress(.anyV4, port: 0)
        var plan = LegPlan(
            cname: announcement.participantID,
            tracks: announcement.tracks.map { track in
                TrackPlan(
                    track: track, ssrc: max(1, Random.integer(UInt32.self)),
                    payloadType: LegPlan.payloadType(of: track.kind), rtp: nowhere, rtcp: nowhere)
            })
        plan.router = name
        if HTTPOrigin.isPrivate(configuration.url) { plan.keys = configuration.protection.map(SRTPKeys.random) }
        return plan
    }

    private func description(of announcement: Announcement, _ plan: LegPlan) -> RouterDescription {
        let ip = announcement.source.ip.isUnspecified ? configuration.sourceAddress : announcement.source.ip
        var description = RouterDescription(
            participantID: announcement.participantID, sessionVersion: announcement.generation, address: ip,
            tracks: plan.tracks.map { track in
                .init(
                    track: track.track, port: announcement.source.port, ssrc: track.ssrc,
                    format: announcement.formats[track.track])
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
        guard let sdp = (try? JSONValue(parsing: response.body))?["sdp"]?.string else { throw .unacceptable("no SDP answer") }
        let answer = try RouterAnswer(
            sdp, offered: announcement.tracks, isProtected: draft.keys != nil, trust: configuration.trust)
        var plan = draft
        plan.feedbackKeys = answer.feedbackKeys
        plan.tracks = zip(draft.tracks, answer.tracks).compactMap { track, answer in
            guard let answer else { return nil }
            var track = track
            (track.rtp, track.rtcp, track.isNACKed) = (answer.rtp, answer.rtcp, answer.isNACKed)
            return track
        }
        announced[announcement.participant] = (location, plan)
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

extension Announcement {
    /// The body of the announce, without the offer.
    fileprivate var json: JSONObject {
        var body: JSONObject = [
            "stageArn": .string(grant.stageARN), "stageId": .string(grant.stageID), "sessionId": .string(sessionID),
            "participantId": .string(participantID), "userId": .string(grant.userID),
            "attributes": .object(JSONObject(grant.attributes.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
            "protocol": .string(ingestProtocol.rawValue),
        ]
        for (name, value) in changes.members { body[name] = value }
        return body
    }

    /// What may change while the announce stands.
    fileprivate var changes: JSONObject {
        [
            "generation": .integer(Int64(clamping: generation)), "pli": .bool(acceptsKeyframeRequests),
            "muted": .array(tracks.filter(muted.contains).map { .string($0.kind == .video ? "video" : "audio") }),
        ]
    }
}
