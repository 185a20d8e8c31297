import HTTP
import JSON
import Refusals
import StageHub

/// What viewers ask for in words: query items of the POST that makes a session, bodies of the layer extension's POST.
extension LayerWish {
    /// `layer=hi`, `mid` or `low`; automatic without.
    init(_ query: QueryItems) throws(Refusal) {
        self = .automatic
        guard let text = query.items.first(where: { $0.name == "layer" })?.value else { return }
        guard let name = LayerName(rawValue: text), name != .noRID else { throw Refusal(.unknownLayer) }
        self = .layer(name)
    }

    /// `{"mediaId": "0", "encodingId": "hi"}`: a name of ours or the encoder's own, `rid` in later drafts; automatic without.
    init(_ body: [UInt8], _ state: LayerState) throws(Refusal) {
        guard let asked = try? JSONValue(parsing: body, limits: .standard), asked.object != nil else {
            throw Refusal(
                .unknownLayer, sentence: "The body is no JSON object such as {\"mediaId\": \"0\", \"encodingId\": \"hi\"}.")
        }
        if let media = asked["mediaId"], !media.isNull, Int(media.string ?? "") ?? media.integer.map(Int.init) != state.mediaIndex
        {
            throw Refusal(.unknownLayer, sentence: "mediaId is the index of the offer's video section.")
        }
        self = .automatic
        guard let wanted = asked["encodingId"] ?? asked["rid"], !wanted.isNull else { return }
        let known = state.layers ?? []
        guard let text = wanted.string, let name = LayerName(rawValue: text) ?? known.first(where: { $0.rid == text })?.name
        else {
            throw Refusal(.unknownLayer)
        }
        self = .layer(name)
    }

    /// As viewers read it.
    var text: String {
        switch self {
        case .automatic: "automatic"
        case .layer(let name): name.rawValue
        }
    }
}

extension InitialLayer {
    /// `initialLayer=HIGHEST_QUALITY` or `LOWEST_QUALITY`, which is the default.
    init(_ query: QueryItems) throws(Refusal) {
        self = .lowest
        guard let text = query.items.first(where: { $0.name == "initialLayer" })?.value else { return }
        guard let asked = InitialLayer(rawValue: text) else {
            throw Refusal(.unknownLayer, sentence: "initialLayer is LOWEST_QUALITY or HIGHEST_QUALITY.")
        }
        self = asked
    }
}
