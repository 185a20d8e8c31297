public import JSON
import StageHub
import Wire

/// What a publisher's media came to so far, for `GET /v1/sessions/{id}` and the log: about a second old while the session lives.
public struct MediaFigures: Sendable, Equatable {
    /// Of one track or layer; `video` is all layers together.
    public struct Track: Sendable, Equatable {
        /// Retransmissions included, duplicates not.
        public var received = 0
        /// Given up: what is still asked for is not among them. The session's counters have the same figure.
        public var lost = 0
        /// Lost on the way and brought by a retransmission that was asked for.
        public var recovered = 0
        /// RFC 3550 §6.4.1.
        public var jitter: Duration = .zero
    }

    /// Of one layer.
    public struct Layer: Sendable, Equatable {
        public var rid: String
        public var track = Track()
    }

    public var video = Track()
    /// In the order of the offer; empty without simulcast.
    public var layers: [Layer] = []
    public var audio = Track()
    /// From a request for a lost packet to that packet, smoothed; nil before the first.
    public var roundTrip: Duration?
}

extension MediaFigures {
    public var json: JSONValue {
        var object = JSONObject()
        object["video"] = video.json
        if !layers.isEmpty { object["layers"] = .array(layers.map(\.json)) }
        object["audio"] = audio.json
        object["roundTripMilliseconds"] = roundTrip.map { .integer($0.milliseconds) }
        return .object(object)
    }
}

extension MediaFigures.Layer {
    fileprivate var json: JSONValue {
        var object = track.object
        object["rid"] = .string(rid)
        return .object(object)
    }
}

extension MediaFigures.Track {
    fileprivate var json: JSONValue { .object(object) }

    fileprivate var object: JSONObject {
        [
            "packets": .integer(Int64(received)), "lost": .integer(Int64(lost)), "recovered": .integer(Int64(recovered)),
            "jitterMilliseconds": .integer(jitter.milliseconds),
        ]
    }

    fileprivate mutating func add(_ source: RTPSource) {
        received += source.statistics.received
        lost += source.losses.lost
        recovered += source.losses.recovered
        jitter = max(jitter, .nanoseconds(source.track.nanoseconds(ofTimestamp: Int64(source.statistics.jitter))))
    }
}

extension MediaReceiver {
    var figures: MediaFigures {
        var figures = MediaFigures()
        let rids = reception.offer.video.rids
        if rids.count > 1 { figures.layers = rids.map { MediaFigures.Layer(rid: $0) } }
        for source in reception.sources where source.role == .media {
            figures.add(source)
            figures.roundTrip = source.losses.roundTrip ?? figures.roundTrip
        }
        return figures
    }
}

extension MediaFigures {
    fileprivate mutating func add(_ source: RTPSource) {
        guard source.track.kind == .video else { return audio.add(source) }
        video.add(source)
        let place = Int(source.track.layer)
        if layers.indices.contains(place) { layers[place].track.add(source) }
    }
}
