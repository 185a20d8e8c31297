import Admission
import JSON
import OpenSSL
import SRTP
import Settings
import StageHub
import Wire

/// A Janus server whose Streaming plugin takes each participant as a mountpoint made by its HTTP
/// API. Confined to the control loop.
///
/// Janus learns where feedback goes from whatever comes to its RTCP ports: our sender reports. It asks for keyframes and limits
/// the bitrate (REMB); it never sends NACKs.
final class JanusDriver: RouterDriver {
    struct Configuration: Sendable, Equatable {
        var name: String
        /// Of the API, such as `http://10.0.0.1:8088/janus`.
        var url: String
        /// Where Janus takes media; nil: where its API answers.
        var mediaAddress: IPAddress?
        var trust: RouterTrust
        var apiSecret: Secret?
        /// SRTP toward Janus: it knows AES-CM only.
        var isProtected = false
        /// Mountpoints of participants with layers have one port for each of three; viewers choose.
        var takesLayers = true
        /// Marks mountpoints as this gateway's, and opens them again after a restart.
        var ownership: MountpointOwnership

        init(
            name: String, url: String, mediaAddress: IPAddress?, trust: RouterTrust, ownership: MountpointOwnership
        ) {
            (self.name, self.url, self.mediaAddress, self.trust) = (name, HTTPOrigin.base(of: url), mediaAddress, trust)
            self.ownership = ownership
        }
    }

    var name: String { configuration.name }
    var hasHealth: Bool { true }
    private let configuration: Configuration
    private let http: any RouterHTTP
    private let isOnlyProcess: () -> Bool
    /// Participant → mountpoint.
    private var mountpoints: [ParticipantKey: Mountpoint] = [:]
    /// Requests whose mountpoints we do not know yet.
    private var creating = 0

    private struct Mountpoint {
        var id: Int64
        var secret: Secret
        /// Of the announce that it was made for; 0 of one that no participant has.
        var generation: UInt64 = 0
    }

    /// - Parameter isOnlyProcess: false while another process of this gateway has mountpoints of its own, under the same mark.
    init(_ configuration: Configuration, http: any RouterHTTP, isOnlyProcess: @escaping () -> Bool = { true }) {
        (self.configuration, self.http, self.isOnlyProcess) = (configuration, http, isOnlyProcess)
    }

    func announce(_ announcement: Announcement, reply: @escaping (Result<LegPlan, AnnounceFailure>) -> Void) {
        let former = mountpoints.removeValue(forKey: announcement.participant)
        let mark = configuration.ownership.mark(stageID: announcement.grant.stageID, generation: announcement.generation)
        let secret = configuration.ownership.secret(of: mark)
        let isProtected = configuration.isProtected && RouterSettings.isPrivate(configuration.url)
        let keys = isProtected ? SRTPKeys.random(.aes128CMSHA1_80) : nil
        let create = creation(of: announcement, mark: mark, secret: secret, keys)
        creating += 1
        request(create) { [weak self] data, address in
            guard let self else { return }
            creating -= 1
            guard let data else { return reply(.failure(.noAnswer)) }
            guard let stream = data["stream"], let id = stream["id"]?.integer else {
                return reply(.failure(.unacceptable(data["error"]?.string ?? "no mountpoint was made")))
            }
            let mountpoint = Mountpoint(id: id, secret: secret, generation: announcement.generation)
            if let former { destroy(former) }
            guard let plan = plan(for: announcement, at: address, stream["ports"]?.array ?? [], keys) else {
                destroy(mountpoint)
                return reply(.failure(.unacceptable("the mountpoint's ports are not the router's to name")))
            }
            keep(mountpoint, of: announcement.participant)
            reply(.success(plan))
        }
    }

    /// The answer to an earlier announce may come behind a later one's: nobody sends to what it has made.
    private func keep(_ mountpoint: Mountpoint, of participant: ParticipantKey) {
        if let standing = mountpoints[participant], standing.generation > mountpoint.generation { return destroy(mountpoint) }
        mountpoints[participant] = mountpoint
    }

    /// Nothing to do: mountpoints take formats in-band.
    func update(_ announcement: Announcement) {}

    func withdraw(_ announcement: Announcement, reason: WithdrawalReason) {
        if let mountpoint = mountpoints.removeValue(forKey: announcement.participant) { destroy(mountpoint) }
    }

    func checkHealth(reply: @escaping (Bool) -> Void) {
        let request = RouterRequest(method: "GET", url: configuration.url + "/info", isUrgent: true)
        http.send(request, deadline: AnnounceDriver.healthDeadline) { response in
            let answer = response.flatMap { try? JSONValue(parsing: $0.body) }
            reply(response?.status == 200 && answer?["janus"]?.string == "server_info")
        }
    }

    /// Janus has no leases; a list of its mountpoints shows what its restart lost, and what a restart of ours left behind.
    func renewLease(_ participants: [Announcement], reply: @escaping ([ParticipantKey]) -> Void) {
        request(["request": "list"]) { [weak self] data, _ in
            guard let self, let list = data?["list"]?.array else { return reply([]) }
            destroyOrphans(in: list)
            let known = Set(list.compactMap { $0["id"]?.integer })
            reply(participants.map(\.participant).filter { self.mountpoints[$0].map { !known.contains($0.id) } ?? false })
        }
    }

    /// Mountpoints with our mark that no participant has: of a process that was killed, or whose making had no answer in time.
    private func destroyOrphans(in list: [JSONValue]) {
        // One of them may just have been made, or is a living process's.
        guard creating == 0, isOnlyProcess() else { return }
        let held = Set(mountpoints.values.map(\.id))
        for entry in list {
            guard let id = entry["id"]?.integer, !held.contains(id), let mark = entry["metadata"]?.string,
                configuration.ownership.owns(mark)
            else { continue }
            destroy(Mountpoint(id: id, secret: configuration.ownership.secret(of: mark)))
        }
    }

    private func destroy(_ mountpoint: Mountpoint) {
        request(["request": "destroy", "id": .integer(mountpoint.id), "secret": .string(mountpoint.secret.revealText())]) {
            _, _ in
        }
    }
}

// MARK: - Mountpoints

extension JanusDriver {
    private func creation(of announcement: Announcement, mark: String, secret: Secret, _ keys: SRTPKeys?) -> JSONObject {
        var body: JSONObject = [
            "request": "create", "type": "rtp", "name": .string(announcement.participantID),
            "metadata": .string(mark),
            "secret": .string(secret.revealText()), "is_private": false,
            "media": .array(announcement.kinds.map { kind in media(kind, of: announcement) }),
        ]
        if let keys {
            body["srtpsuite"] = 80
            body["srtpcrypto"] = .string(keys.crypto.inlineKey.revealText())
        }
        return body
    }

    /// Port 0 lets Janus choose; the presence of `rtcpport` turns feedback on.
    private func media(_ kind: MediaKind, of announcement: Announcement) -> JSONValue {
        let isVideo = kind == .video
        var media: JSONObject = [
            "type": isVideo ? "video" : "audio", "mid": isVideo ? "v" : "a", "port": 0, "rtcpport": 0,
            "pt": .integer(Int64(LegPlan.payloadType(of: kind))), "codec": isVideo ? "h264" : "opus",
        ]
        if let parameters = RouterDescription.formatParameters(of: kind, announcement.formats[kind]) {
            media["fmtp"] = .string(parameters)
        }
        if isVideo, !layers(of: announcement).isEmpty {
            (media["simulcast"], media["port2"], media["port3"]) = (true, 0, 0)
        }
        return .object(media)
    }

    /// Those that have a port each, worst first: what Janus calls substream 0, 1 and 2.
    private func layers(of announcement: Announcement) -> [AnnouncedLayer] {
        configuration.takesLayers ? announcement.layers.reversed() : []
    }

    /// - Parameter answerer: where the API answered: Janus may come back elsewhere, as a container does.
    private func plan(
        for announcement: Announcement, at answerer: IPAddress?, _ ports: [JSONValue], _ keys: SRTPKeys?
    ) -> LegPlan? {
        guard let address = configuration.mediaAddress ?? answerer else { return nil }
        let trust = configuration.trust.extended(by: address)
        var plan = LegPlan(cname: announcement.participantID, tracks: [])
        (plan.router, plan.keys, plan.isLayerless) = (name, keys, !configuration.takesLayers)
        for kind in announcement.kinds {
            let type = kind == .video ? "video" : "audio"
            guard let entry = ports.first(where: { $0["type"]?.string == type }),
                let rtcp = entry["rtcp_port"]?.integer.flatMap(UInt16.init(exactly:))
            else { return nil }
            let layers = kind == .video ? layers(of: announcement) : []
            let tracks = layers.isEmpty ? [TrackID(kind)] : layers.map(\.track)
            for (track, name) in zip(tracks, ["port", "port_2", "port_3"]) {
                guard let rtp = entry[name]?.integer.flatMap(UInt16.init(exactly:)) else { return nil }
                var planned = TrackPlan(
                    track: track, ssrc: max(1, Random.integer(UInt32.self)), payloadType: LegPlan.payloadType(of: kind),
                    rtp: SocketAddress(address, port: rtp), rtcp: SocketAddress(address, port: rtcp))
                planned.isLayer = !layers.isEmpty
                guard trust.admits(planned.rtp), trust.admits(planned.rtcp) else { return nil }
                plan.tracks.append(planned)
            }
            if layers.count > 1 { plan.asksForAllLayers = true }
        }
        return plan
    }
}

// MARK: - Requests

extension JanusDriver {
    /// One request to the Streaming plugin, in a session of its own: sessions would want to be kept alive.
    /// - Parameter reply: the plugin's data, nil when any step had no answer, and where that came from.
    private func request(_ body: JSONObject, reply: @escaping (JSONValue?, IPAddress?) -> Void) {
        post(["janus": "create"], to: configuration.url) { [weak self] answer, _ in
            guard let self, let session = answer?["data"]?["id"]?.integer else { return reply(nil, nil) }
            let url = "\(configuration.url)/\(session)"
            post(["janus": "attach", "plugin": "janus.plugin.streaming"], to: url) { [weak self] answer, _ in
                guard let self, let handle = answer?["data"]?["id"]?.integer else { return reply(nil, nil) }
                post(["janus": "message", "body": .object(body)], to: "\(url)/\(handle)") { [weak self] answer, address in
                    reply(answer?["plugindata"]?["data"], address)
                    self?.post(["janus": "destroy"], to: url) { _, _ in }
                }
            }
        }
    }

    private func post(_ message: JSONObject, to url: String, reply: @escaping (JSONValue?, IPAddress?) -> Void) {
        var message = message
        message["transaction"] = .string(String(Random.integer(UInt64.self), radix: 36))
        if let apiSecret = configuration.apiSecret { message["apisecret"] = .string(apiSecret.revealText()) }
        let request = RouterRequest(
            method: "POST", url: url, headers: [("Content-Type", "application/json")],
            body: JSONValue.object(message).serialized())
        http.send(request, deadline: AnnounceDriver.answerDeadline) { response in
            guard let response, response.status == 200 else { return reply(nil, nil) }
            reply(try? JSONValue(parsing: response.body), response.address)
        }
    }
}
