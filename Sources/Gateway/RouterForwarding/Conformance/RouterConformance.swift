import Admission
public import EventLoop
import JSON
import Refusals
import SDP
import StageHub
public import Wire

/// Asks a router, rule by rule, whether it keeps to docs/stage-router.md: for authors of routers
/// (`stagedoor-bench router-check`).
///
/// It announces one participant of its own, with two layers of video, sends it a second of media, and takes it away. Runs its
/// loop itself.
public final class RouterConformance {
    /// One rule of the specification, and what the router did.
    public struct Finding: Sendable, Equatable {
        /// The section of docs/stage-router.md.
        public var section: Int
        public var rule: String
        public var isMet: Bool
        /// What the router did instead, for its author; empty where it keeps to the rule.
        public var detail: String
    }

    public private(set) var findings: [Finding] = []

    private let loop: EventLoop
    private let url: String
    private let http: AnswerKeeper
    private let driver: AnnounceDriver
    private let headers: [(name: String, value: String)]
    private let gatewayID = "router-check"
    private var announcement: Announcement

    /// - Parameter media: where the router's answer may send media.
    public init(loop: EventLoop, url: String, bearer: Secret? = nil, media: [IPNetwork], http: any RouterHTTP) {
        let http = AnswerKeeper(http)
        (self.loop, self.url, self.http) = (loop, HTTPOrigin.base(of: url), http)
        driver = AnnounceDriver(
            .init(name: "router", url: url, bearer: bearer, trust: RouterTrust(networks: media)), gatewayID: gatewayID,
            http: http)
        headers =
            [("Content-Type", "application/json")]
            + (bearer.map { [("Authorization", "Bearer \($0.revealText())")] } ?? [])
        announcement = Announcement(
            grant: PublishGrant(
                participantID: "routercheck", stageARN: "arn:aws:ivs:us-east-1:000000000000:stage/routercheck",
                stageID: "routercheck", credentialHash: ""),
            sessionID: "st-routercheck00",
            generation: Generation.next(after: nil, wallMilliseconds: EventLoop.wallNow().millisecondsSince1970),
            ingestProtocol: .whip, acceptsKeyframeRequests: true,
            formats: [
                .video: .h264(sps: [0x67, 0x42, 0xC0, 0x1F, 0xD9, 0x00], pps: [0x68, 0xCE, 0x3C, 0x80]),
                .audio: .opus(isStereo: true),
            ], source: SocketAddress(.loopback, port: 9))
        announcement.layers = zip(Self.layers, [LayerName.hi, .low]).map { AnnouncedLayer($0, rid: $1) }
    }

    /// By place, the better one first.
    private static let layers = [TrackID(.video, layer: 0), TrackID(.video, layer: 1)]

    /// Asks everything; what follows a failed announce is left out.
    /// - Returns: whether all rules were met.
    public func run() throws(SystemError) -> Bool {
        let health = ask("GET", "/healthz")
        note(5, "GET /healthz answers 2xx within a second", health.map { 200...299 ~= $0.status } ?? false, health)
        let socket = try RouterSocket(loop: loop)
        announcement.source = SocketAddress(health?.ownAddress ?? .loopback, port: socket.localAddress.port)
        guard let plan = announced(1, "POST is answered by 201, a Location and an acceptable answer") else { return false }
        checkLayers()
        sendMedia(plan, through: socket)
        checkLease()
        checkGenerations()
        checkEnd()
        return findings.allSatisfy(\.isMet)
    }

    private func note(_ section: Int, _ rule: String, _ isMet: Bool, _ response: RouterResponse?) {
        note(section, rule, isMet, or: response.map { "answered \($0.status)" } ?? "no answer")
    }

    /// - Parameter fault: what the router has done where it did not keep to the rule.
    private func note(_ section: Int, _ rule: String, _ isMet: Bool, or fault: String) {
        findings.append(Finding(section: section, rule: rule, isMet: isMet, detail: isMet ? "" : fault))
    }

    private func announced(_ section: Int, _ rule: String) -> LegPlan? {
        let result = announce()
        switch result {
        case .success(let plan):
            note(section, rule, true, or: "")
            return plan
        case .failure(let failure):
            note(section, rule, false, or: "\(failure)")
            return nil
        }
    }

    private func announce() -> Result<LegPlan, AnnounceFailure> {
        var result: Result<LegPlan, AnnounceFailure>?
        driver.announce(announcement) { result = $0 }
        _ = loop.run(until: { result != nil }, within: .seconds(5))
        return result ?? .failure(.noAnswer)
    }

    private func ask(_ method: String, _ target: String, _ body: JSONObject? = nil) -> RouterResponse? {
        var (isAnswered, answer): (Bool, RouterResponse?) = (false, nil)
        let address = target.hasPrefix("/") ? url + target : target
        let bytes = body.map { JSONValue.object($0).serialized() } ?? []
        let request = RouterRequest(method: method, url: address, headers: headers, body: bytes)
        http.send(request, deadline: .seconds(method == "GET" ? 1 : 2)) { (isAnswered, answer) = (true, $0) }
        _ = loop.run(until: { isAnswered }, within: .seconds(5))
        return answer
    }
}

// MARK: - Rules

extension RouterConformance {
    /// It takes some of the layers, or none; what it names of them is what it was offered.
    private func checkLayers() {
        let text = http.lastDescription ?? ""
        let video = (try? SessionDescription(parsing: Array(text.utf8)))?.media.first { $0.media == "video" }
        let attributes = video?.attributes ?? []
        let named = attributes.all(Simulcast.self).flatMap(\.receive).flatMap(\.alternatives).map(\.identifier)
        let offered = announcement.layers.map(\.rid.rawValue)
        let areOffered = Set(named).isSubset(of: offered) && Set(named).count == named.count
        let isReadable = attributes.contains(Simulcast.attributeName) == !named.isEmpty
        note(
            1, "the answer takes layers of the offer, each once, or none", areOffered && isReadable,
            or: "a=simulcast:\(attributes.value(of: Simulcast.attributeName) ?? "")")
        let extensions = attributes.all(HeaderExtensionMap.self).map { "\($0.identifier) \($0.uri)" }
        let known = [
            "\(RouterDescription.ExtensionID.mid) \(HeaderExtensionMap.mid)",
            "\(RouterDescription.ExtensionID.rid) \(HeaderExtensionMap.rtpStreamID)",
        ]
        let areKnown = Set(extensions).isSubset(of: known)
        note(
            1, "header extensions in the answer have the offer's identifiers", areKnown, or: extensions.joined(separator: ", "))
    }

    /// A second of pictures and sound; the router shall report.
    private func sendMedia(_ plan: LegPlan, through socket: RouterSocket) {
        let publication = makePublication()
        let leg = RouterLeg(publication: publication, socket: socket)
        publication.add(leg)
        leg.open(plan)
        var frame: Int64 = 0
        let encoder = loop.schedule(after: .zero, repeating: .milliseconds(20)) { [loop] in
            Self.send(frame, to: publication, at: loop.now)
            frame += 1
        }
        // Of a paused layer nothing goes out that a report could be about.
        let awaited = plan.tracks.filter { !$0.isPaused }
        let isAnswered = loop.run(
            until: { awaited.allSatisfy(leg.answeredTracks.contains) && frame > 50 }, within: .seconds(3))
        let silent = awaited.filter { !leg.answeredTracks.contains($0) }.map { $0.rid?.rawValue ?? "\($0.track.kind)" }
        let hasReported = leg.lastFeedback != nil
        encoder.cancel()
        publication.end(.closed)
        note(
            7, "receiver reports come from the announced address within 3 s", hasReported,
            or: "foreign \(socket.feedback.foreign), malformed \(socket.feedback.malformed)")
        note(
            7, "they are about every track and layer that it took", isAnswered,
            or: "none about \(silent.joined(separator: ", "))")
    }

    private func makePublication() -> Publication {
        let publication = Publication(
            grant: announcement.grant,
            lease: PublishLease(
                participantID: announcement.participantID, stageID: "routercheck", stageSessionID: announcement.sessionID,
                generation: announcement.generation), ingestProtocol: .whip, timeline: Timeline())
        for (layer, width) in zip(Self.layers, [1280, 640]) {
            publication.setPictureSize(width: width, height: width * 9 / 16, of: layer, at: loop.now)
        }
        return publication
    }

    /// A picture in each layer and a packet of sound, all made up.
    private static func send(_ frame: Int64, to publication: Publication, at now: MonotonicTime) {
        for track in layers + [.audio] {
            let payload: [UInt8] = track.kind == .video ? [0x65, 0x88, 0x84, 0x00] : [0xFC, 0xFF, 0xFE]
            let placed = publication.timeline.place(.milliseconds(20 * frame), of: track, arrival: now)
            unsafe payload.withUnsafeBytes { bytes in
                let packet = unsafe MediaPacket(
                    sequenceNumber: frame, timestamp: placed.timestamp(for: track), marker: track.kind == .video || frame == 0,
                    payload: bytes)
                let run = MediaRun(track: track, isKeyframe: track.kind == .video, arrival: now)
                unsafe withUnsafePointer(to: packet) {
                    unsafe publication.forward(UnsafeBufferPointer(start: $0, count: 1), of: run)
                }
            }
        }
    }

    private func checkLease() {
        func renew(_ hash: String) -> (RouterResponse?, JSONValue?) {
            let response = ask("PUT", "/v1/gateways/\(gatewayID)", ["participants": 1, "hash": .string(hash)])
            return (response, response.flatMap { try? JSONValue(parsing: $0.body) })
        }
        let (response, answer) = renew(AnnounceMessages.hash([announcement]))
        let boot = answer?["bootId"]?.string
        note(4, "PUT of the lease answers 200 with a bootId", response?.status == 200 && boot != nil, response)
        note(4, "a matching hash is answered without participants", answer != nil && answer?["participants"] == nil, response)
        let (other, list) = renew(String(repeating: "0", count: 64))
        let isListed = list?["participants"]?.array?.contains(.string(announcement.participantID)) ?? false
        note(4, "another hash is answered with the participants held", isListed, other)
        note(4, "bootId stays while the router runs", boot != nil && list?["bootId"]?.string == boot, other)
    }

    private func checkGenerations() {
        let held = announcement.generation
        announcement.generation = held - 1
        let lower = announce()
        let isRefused = if case .failure(.staleGeneration) = lower { true } else { false }
        note(3, "POST of a lower generation is refused with 409", isRefused, or: "\(lower)")
        let location = driver.location(of: announcement.participant) ?? url
        let change: JSONObject = ["generation": .integer(Int64(held - 1)), "pli": true, "muted": []]
        let patched = ask("PATCH", location, change)
        note(3, "PATCH of a lower generation is refused with 409", patched?.status == 409, patched)
        let deleted = ask("DELETE", location + "?generation=\(held - 1)&reason=unpublished")
        note(3, "DELETE of a lower generation is refused with 409", deleted?.status == 409, deleted)
        announcement.generation = held
        _ = announced(3, "POST of the same generation replaces the participant")
        announcement.generation = held + 1
        _ = announced(3, "POST of a higher generation replaces the participant")
    }

    private func checkEnd() {
        let location = driver.location(of: announcement.participant) ?? url
        let change: JSONObject = ["generation": .integer(Int64(announcement.generation)), "pli": false, "muted": ["audio"]]
        let patched = ask("PATCH", location, change)
        note(2, "PATCH is answered by 2xx", patched.map { 200...299 ~= $0.status } ?? false, patched)
        let end = location + "?generation=\(announcement.generation)&reason=unpublished"
        let deleted = ask("DELETE", end)
        note(2, "DELETE is answered by 204", deleted?.status == 204, deleted)
        let again = ask("DELETE", end)
        note(2, "DELETE of what is gone is answered by 204 or 404", [204, 404].contains(again?.status), again)
    }
}

/// Passes requests on, and keeps the description that was answered last.
private final class AnswerKeeper: RouterHTTP {
    private let http: any RouterHTTP
    private(set) var lastDescription: String?

    init(_ http: any RouterHTTP) { self.http = http }

    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void) {
        http.send(request, deadline: deadline) { [self] response in
            let answer = response.flatMap { try? JSONValue(parsing: $0.body) }
            if let text = answer?["sdp"]?.string { lastDescription = text }
            reply(response)
        }
    }
}
