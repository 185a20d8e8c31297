import Admission
import JSON
import OpenSSL
import SRTP
import StageHub
import Wire

/// Makes the requests of docs/stage-router.md for one router.
struct AnnounceMessages: Sendable {
    private var configuration: AnnounceDriver.Configuration
    private let gatewayID: String

    init(_ configuration: AnnounceDriver.Configuration, gatewayID: String) {
        (self.configuration, self.gatewayID) = (configuration, gatewayID)
    }

    /// Taken where none is known: it stays the same for announces that stand.
    mutating func learn(sourceAddress: IPAddress) {
        if configuration.sourceAddress == nil { configuration.sourceAddress = sourceAddress }
    }

    var health: RouterRequest { request("GET", configuration.url + "/healthz", isUrgent: true) }

    func announce(_ announcement: Announcement, _ offer: LegPlan) -> RouterRequest {
        var body = announcement.json(offer)
        body["gatewayId"] = .string(gatewayID)
        body["sdp"] = .string(description(of: announcement, offer).text)
        return request("POST", configuration.url + "/v1/participants", body)
    }

    /// - Parameter offer: what was announced and taken.
    func change(_ announcement: Announcement, _ offer: LegPlan, at location: String) -> RouterRequest {
        var body = announcement.changes(offer)
        body["sdp"] = .string(description(of: announcement, offer).text)
        return request("PATCH", location, body)
    }

    func end(by url: String) -> RouterRequest { request("DELETE", url) }

    func lease(of participants: [Announcement]) -> RouterRequest {
        let body: JSONObject = [
            "participants": .integer(Int64(participants.count)), "hash": .string(Self.hash(participants)),
        ]
        return request("PUT", configuration.url + "/v1/gateways/\(gatewayID)", body, isUrgent: true)
    }

    /// Of "participantId generation" lines, sorted, each ended by a line feed: SHA-256 in lower case hex.
    static func hash(_ participants: [Announcement]) -> String {
        let lines = participants.map { "\($0.participantID) \($0.generation)\n" }.sorted().joined()
        return String(hexadecimal: Digest.sha256(Array(lines.utf8)))
    }

    private func description(of announcement: Announcement, _ plan: LegPlan) -> RouterDescription {
        let ip = announcement.source.ip.isUnspecified ? configuration.sourceAddress ?? .loopback : announcement.source.ip
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

    private func request(_ method: String, _ url: String, _ body: JSONObject? = nil, isUrgent: Bool = false) -> RouterRequest {
        var headers: [(name: String, value: String)] = [("Accept", "application/json")]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        if let bearer = configuration.bearer { headers.append(("Authorization", "Bearer \(bearer.revealText())")) }
        return RouterRequest(
            method: method, url: url, headers: headers, body: body.map { JSONValue.object($0).serialized() } ?? [],
            isUrgent: isUrgent)
    }
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
