public import JSON

/// The JSON that sets up OBS Studio: what `GetClientConfiguration` answers, and what a person pastes into *Config Override*.
///
/// One encoder a layer and one audio track: OBS sends the first video track as plain H.264 by RTMP, so any stage takes it.
public struct OBSConfiguration: Sendable {
    /// What stands in a dialog of OBS before it connects: an error ends the attempt, a warning asks whether to go on.
    public enum Status: Equatable, Sendable {
        case success
        case warning(String)
        case error(String)
    }

    /// Where to publish, by `protocol`.
    public struct Endpoint: Equatable, Sendable {
        public enum Transport: String, Sendable { case rtmp = "RTMP", rtmps = "RTMPS" }

        public var transport: Transport
        /// With host, port and application, without a key: `rtmp://ingest.example:1935/app`.
        public var url: String

        public init(transport: Transport, url: String) {
            (self.transport, self.url) = (transport, url.hasSuffix("/") ? String(url.dropLast()) : url)
        }
    }

    public var service = "IVS"
    public var schemaVersion = "2025-01-25"
    /// OBS adds it to the key as `clientConfigId`: it ties a publish to this answer in the log.
    public var identifier: String
    public var status = Status.success
    public var endpoints: [Endpoint]
    /// Is put into the document in place of the key that was typed. Nil keeps the key out of it.
    public var streamKey: String?
    public var encoder: OBSEncoder
    public var target: StreamTarget
    /// Pictures of `target` that OBS makes at once, at the most; the first one alone goes to who takes no layers.
    public var layerCount = 1
    public var audioChannelCount = 2
    /// A second track of sound, which OBS demands settings for where the streamer has switched it on; stages leave it out.
    public var hasVODTrack = false

    public init(identifier: String, endpoints: [Endpoint], encoder: OBSEncoder, target: StreamTarget) {
        (self.identifier, self.endpoints, self.encoder, self.target) = (identifier, endpoints, encoder, target)
    }

    private var isError: Bool { if case .error = status { true } else { false } }

    /// The document. With an error it names no encoder, so that nothing can be started by it.
    public var document: JSONObject {
        [
            "meta": [
                "service": .string(service), "schema_version": .string(schemaVersion), "config_id": .string(identifier),
            ],
            "status": .object(statusObject),
            "ingest_endpoints": .array(isError ? [] : endpoints.map { .object(object(of: $0)) }),
            "encoder_configurations": .array(isError ? [] : layers.map { .object(video($0)) }),
            "audio_configurations": .object(audio),
        ]
    }

    private var statusObject: JSONObject {
        switch status {
        case .success: ["result": "success"]
        case .warning(let words): ["result": "warning", "html_en_us": .string(Self.html(words))]
        case .error(let words): ["result": "error", "html_en_us": .string(Self.html(words))]
        }
    }

    private func object(of endpoint: Endpoint) -> JSONObject {
        [
            "protocol": .string(endpoint.transport.rawValue), "url_template": .string(endpoint.url + "/{stream_key}"),
            "authentication": .string(streamKey ?? ""),
        ]
    }

    /// Best first, as OBS numbers its tracks.
    public var layers: [StreamTarget] { target.layers(layerCount) }

    private func video(_ target: StreamTarget) -> JSONObject {
        [
            "type": .string(encoder.type), "width": .integer(Int64(target.width)), "height": .integer(Int64(target.height)),
            "framerate": [
                "numerator": .integer(Int64(target.frameRate.numerator)),
                "denominator": .integer(Int64(target.frameRate.denominator)),
            ],
            "gpu_scale_type": "OBS_SCALE_BICUBIC",
            // What H.264 decoders of stages understand without a word, whatever the scene is composed in.
            "format": "VIDEO_FORMAT_NV12", "colorspace": "VIDEO_CS_709", "range": "VIDEO_RANGE_PARTIAL", "canvas_index": 0,
            "settings": .object(encoder.settings(for: target)),
        ]
    }

    private var audio: JSONObject {
        var tracks: JSONObject = ["live": .array(isError ? [] : [.object(audioTrack(1))])]
        if hasVODTrack, !isError { tracks["vod"] = [.object(audioTrack(2))] }
        return tracks
    }

    private func audioTrack(_ number: Int64) -> JSONObject {
        [
            "codec": "ffmpeg_aac", "track_id": .integer(number), "channels": .integer(Int64(audioChannelCount)),
            "settings": ["bitrate": .integer(Int64(target.audioKilobits))],
        ]
    }

    /// OBS shows `html_en_us` as rich text: names that a streamer chose stay words.
    private static func html(_ words: String) -> String {
        var text = ""
        for character in words {
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\n": text += "<br>"
            default: text.append(character)
            }
        }
        return text
    }
}
