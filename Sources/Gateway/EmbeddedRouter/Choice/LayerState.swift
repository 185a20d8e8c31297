import JSON
import StageHub

/// The layers that a viewer can have, which of them it gets, and why.
struct LayerState: Sendable, Equatable {
    /// Of the offer's video section; nil without video.
    var mediaIndex: Int?
    /// Best first; nil while nobody publishes.
    var layers: [VideoLayer]?
    /// Whose pictures are sent.
    var current: TrackID?
    /// What is to be sent, and why; nil before anything was chosen.
    var choice: LayerChoice?
    var wish = LayerWish.automatic
    /// What the way carries, bits a second; nil while the viewer has told nothing.
    var estimate: Int?

    init(mediaIndex: Int?) { self.mediaIndex = mediaIndex }

    var isActive: Bool { layers != nil }

    /// Whether listeners are told: the estimate moves all the time.
    func isNews(after former: LayerState) -> Bool {
        var alike = self
        alike.estimate = former.estimate
        return alike != former
    }

    func name(of track: TrackID?) -> LayerName? { layers?.first { $0.track == track }?.name }

    /// The `layers` event of the WHEP core extensions, by the section's index; members that the draft does not have say what is
    /// sent and why.
    var json: JSONObject {
        guard let mediaIndex else { return [:] }
        let layers = layers ?? []
        let flowing = layers.filter(\.isActive).map { JSONValue.object($0.json) }
        var media: JSONObject = [
            "active": .array(flowing), "inactive": .array(layers.filter { !$0.isActive }.map { .object($0.json) }),
            "layers": .array(flowing), "wish": .string(wish.text),
        ]
        if let name = name(of: current) { media["current"] = .string(name.rawValue) }
        if let choice {
            media["chosen"] = name(of: choice.track).map { .string($0.rawValue) } ?? .null
            media["reason"] = .string(choice.reason.rawValue)
        }
        if let estimate { media["estimatedBitrate"] = .integer(Int64(estimate)) }
        return JSONObject([(String(mediaIndex), .object(media))])
    }
}

extension VideoLayer {
    /// `encodingId` is our name of it; `rid` the encoder's own.
    fileprivate var json: JSONObject {
        [
            "encodingId": .string(name.rawValue), "rid": .string(rid), "width": .integer(Int64(width)),
            "height": .integer(Int64(height)), "framerate": .integer(Int64(framesPerSecond)),
            "bitrate": .integer(Int64(isActive ? bitsPerSecond : 0)),
        ]
    }
}
