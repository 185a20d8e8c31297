public import JSON
import StageHub
import Wire

/// What a publisher's media came to so far, for `GET /v1/sessions/{id}` and the log: about a second old while the session lives.
public struct MediaFigures: Sendable, Equatable {
    /// Of one track; with simulcast all layers together.
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

    public var video = Track()
    public var audio = Track()
    /// From a request for a lost packet to that packet, smoothed; nil before the first.
    public var roundTrip: Duration?
}

extension MediaFigures {
    public var json: JSONValue {
        var object = JSONObject()
        object["video"] = video.json
        object["audio"] = audio.json
        object["roundTripMilliseconds"] = roundTrip.map { .integer($0.milliseconds) }
        return .object(object)
    }
}

extension MediaFigures.Track {
    fileprivate var json: JSONValue {
        [
            "packets": .integer(Int64(received)), "lost": .integer(Int64(lost)), "recovered": .integer(Int64(recovered)),
            "jitterMilliseconds": .integer(jitter.milliseconds),
        ]
    }
}

extension MediaReceiver {
    var figures: MediaFigures {
        var figures = MediaFigures()
        for source in reception.sources where source.role == .media {
            source.add(to: source.track.kind == .video ? \.video : \.audio, of: &figures)
            figures.roundTrip = source.losses.roundTrip ?? figures.roundTrip
        }
        return figures
    }
}

extension RTPSource {
    fileprivate func add(to track: WritableKeyPath<MediaFigures, MediaFigures.Track>, of figures: inout MediaFigures) {
        figures[keyPath: track].received += statistics.received
        figures[keyPath: track].lost += losses.lost
        figures[keyPath: track].recovered += losses.recovered
        let jitter = Duration.nanoseconds(Int64(statistics.jitter) * 1_000_000_000 / clockRate)
        figures[keyPath: track].jitter = max(figures[keyPath: track].jitter, jitter)
    }
}
