import JSON
import OpenSSL
import RTP
import SRTP
import Settings
import StageHub
import Wire

/// What one announce offers a router, and what the router takes of it: fresh SSRCs and a fresh key for each.
struct AnnounceOffer: Sendable {
    /// Where media goes is for the answer to say.
    let draft: LegPlan
    /// In the order of the m-lines.
    private let kinds: [MediaKind]
    private let configuration: AnnounceDriver.Configuration

    init(of announcement: Announcement, by configuration: AnnounceDriver.Configuration) {
        (kinds, self.configuration) = (announcement.kinds, configuration)
        let offered = configuration.offersLayers ? announcement.layers : []
        let layers = offered.map { Self.track($0.track, rid: $0.rid) }.sorted { $0.place < $1.place }
        let tracks = kinds.flatMap { $0 == .video && !layers.isEmpty ? layers : [Self.track(TrackID($0))] }
        var plan = LegPlan(cname: announcement.participantID, tracks: tracks)
        plan.router = configuration.name
        if RouterSettings.isPrivate(configuration.url) { plan.keys = configuration.protection.map(SRTPKeys.random) }
        draft = plan
    }

    private static func track(_ track: TrackID, rid: LayerName? = nil) -> TrackPlan {
        let nowhere = SocketAddress(.anyV4, port: 0)
        var plan = TrackPlan(
            track: track, ssrc: max(1, Random.integer(UInt32.self)), payloadType: LegPlan.payloadType(of: track.kind),
            rtp: nowhere, rtcp: nowhere)
        (plan.isLayer, plan.rid) = (rid != nil, rid)
        return plan
    }

    /// What goes out, by the answer.
    /// - Throws: `.unacceptable` with the rule that the answer breaks.
    func plan(by response: RouterResponse) throws(AnnounceFailure) -> LegPlan {
        guard let sdp = (try? JSONValue(parsing: response.body))?["sdp"]?.string else { throw .unacceptable("no SDP answer") }
        let answer = try RouterAnswer(
            sdp, offered: kinds, layers: draft.tracks.compactMap(\.rid), isProtected: draft.keys != nil,
            trust: configuration.trust.extended(by: response.address))
        var plan = draft
        plan.feedbackKeys = answer.feedbackKeys
        plan.tracks = zip(kinds, answer.tracks).flatMap { kind, answer in
            answer.map { $0.taken(of: draft.tracks.filter { $0.track.kind == kind }) } ?? []
        }
        plan.isLayerless =
            !configuration.offersLayers || draft.tracks.contains(where: \.isLayer) && !plan.tracks.contains(where: \.isLayer)
        return plan
    }

    /// What is offered of the tracks that go out: changes are about those alone.
    func standing(by plan: LegPlan) -> LegPlan {
        var offer = draft
        offer.tracks.removeAll { track in !plan.tracks.contains { $0.track.kind == track.track.kind } }
        return offer
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
