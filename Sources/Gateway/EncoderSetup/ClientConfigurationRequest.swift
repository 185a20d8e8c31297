public import JSON
public import Wire

/// What OBS Studio posts to `GetClientConfiguration` before it goes live (Amazon IVS' Broadcast Software Integration API,
/// `schema_version` 2024-06-04 and 2025-01-25): its key, what machine it runs on, and what it composes.
///
/// Everything has a value that makes a modest answer where it is missing, so that other clients and later versions of the schema
/// are served too.
public struct ClientConfigurationRequest: Sendable {
    /// What a body may be: OBS sends about 1,500 bytes.
    public static let limits = JSONLimits(maximumLength: 64 * 1_024, maximumDepth: 8, maximumValues: 2_000)
    /// Graphics cards and canvases that are looked at.
    static let maximumListLength = 8

    /// `authentication`: the stream key as it was typed, without the query that may follow it. Empty where none was.
    public var streamKey: Secret
    /// `service` and `schema_version`, which the answer repeats.
    public var service: String
    public var schemaVersion: String
    /// `client.name` and `client.version`: `obs-studio`, `32.2.2`.
    public var client: String
    public var machine: Machine
    /// The first canvas of `preferences.canvases`; a second one is another picture, which is no layer of this one.
    public var canvas: StreamTarget.Canvas
    /// `preferences.maximum_aggregate_bitrate`, in thousands of bits a second; nil for "as you think best".
    public var maximumKilobits: Int?
    /// `preferences.maximum_video_tracks`; nil where the streamer leaves it to us.
    public var maximumVideoTracks: Int?
    /// 1 or 2, `preferences.audio_channels`.
    public var audioChannelCount: Int
    /// `preferences.vod_track_audio`: OBS starts with an answer that has settings for it, and with no other.
    public var hasVODTrack: Bool

    /// The body is no JSON object within `limits`.
    public struct Fault: Error, Equatable, Sendable {
        public let words: String
    }

    public init(parsing body: [UInt8]) throws(Fault) {
        let document: JSONValue
        do { document = try JSONValue(parsing: body, limits: Self.limits) } catch { throw Fault(words: "\(error)") }
        guard document.object != nil else { throw Fault(words: "The body is no JSON object.") }
        let key = document["authentication"]?.string?.utf8.prefix { $0 != UInt8(ascii: "?") }
        streamKey = Secret(key.map(Substring.init) ?? "")
        (service, schemaVersion) = (document["service"].word ?? "IVS", document["schema_version"].word ?? "2025-01-25")
        let (name, version) = (document["client"]?["name"].word ?? "", document["client"]?["version"].word ?? "")
        client = [name, version].filter { !$0.isEmpty }.joined(separator: " ")
        let preferences = document["preferences"]
        machine = Machine(document["capabilities"], preferences: preferences, obsVersion: version)
        canvas = preferences?["canvases"]?[0].map(StreamTarget.Canvas.init(parsing:)) ?? .unknown
        maximumKilobits = preferences?["maximum_aggregate_bitrate"].number(in: 1...1_000_000)
        maximumVideoTracks = preferences?["maximum_video_tracks"].number(in: 1...100)
        audioChannelCount = preferences?["audio_channels"].number(in: 1...2) ?? 2
        hasVODTrack = preferences?["vod_track_audio"]?.bool ?? false
    }
}

extension ClientConfigurationRequest {
    /// What decides which encoder is there.
    public struct Machine: Equatable, Sendable {
        public enum System: Equatable, Sendable { case windows, macOS, other }

        public var system = System.other
        public var isAppleSilicon = false
        /// Physical ones.
        public var cores = 4
        /// In OBS' order; empty where OBS does not tell.
        public var graphics: [GraphicsCard] = []
        /// The card that OBS composes on (`composition_gpu_index`): only its encoder takes pictures without a copy.
        public var composing: GraphicsCard?
        /// The number before the first point of OBS' version; 0 when it is none.
        public var obsMajor = 0

        init(_ capabilities: JSONValue?, preferences: JSONValue?, obsVersion: String) {
            let name = capabilities?["system"]?["name"].word?.lowercased() ?? ""
            system = name.hasPrefix("windows") ? .windows : name.hasPrefix("macos") ? .macOS : .other
            isAppleSilicon = capabilities?["system"]?["arm"]?.bool ?? false
            cores = capabilities?["cpu"]?["physical_cores"].number(in: 1...1_024) ?? cores
            graphics = (capabilities?["gpu"]?.array ?? []).prefix(maximumListLength).map(GraphicsCard.init(parsing:))
            let index = preferences?["composition_gpu_index"].number(in: 0...maximumListLength) ?? 0
            composing = graphics.indices.contains(index) ? graphics[index] : graphics.first
            obsMajor = obsVersion.split(separator: ".").first.flatMap { Int($0) } ?? 0
        }
    }

    /// A graphics card by its PCI numbers.
    public struct GraphicsCard: Equatable, Sendable {
        public enum Vendor: Int, Sendable { case nvidia = 0x10DE, intel = 0x8086, amd = 0x1002, apple = 0x106B, other = 0 }

        public var vendor: Vendor
        public var device: Int
        /// Mesa's drivers (Linux) have none of the makers' own encoders.
        public var isMesa: Bool

        init(parsing card: JSONValue) {
            vendor = card["vendor_id"].number(in: 0...0xFFFF).flatMap(Vendor.init(rawValue:)) ?? .other
            device = card["device_id"].number(in: 0...0xFFFF) ?? 0
            isMesa = card["driver_version"]?.string?.contains("Mesa") ?? false
        }

        /// NVIDIA's chips that have no encoder, or one too old for OBS 30: Fermi and Kepler, GM108, GP108, by ranges of numbers
        /// (the PCI ID Repository's list of vendor 10de). An unknown number counts as a chip of today.
        var hasNVENC: Bool {
            let without: [ClosedRange<Int>] = [
                0x0000...0x133F, 0x1340...0x137F, 0x174D...0x174E, 0x179C...0x179C, 0x1D00...0x1D7F,
            ]
            return !isMesa && (device == 0 || !without.contains { $0.contains(device) })
        }
    }
}

extension StreamTarget.Canvas {
    /// `width` and `height` are what OBS puts out, `canvas_width` and `canvas_height` what it composes: the first count.
    fileprivate init(parsing canvas: JSONValue) {
        let sides = 16...16_384
        let width = canvas["width"].number(in: sides) ?? canvas["canvas_width"].number(in: sides)
        let height = canvas["height"].number(in: sides) ?? canvas["canvas_height"].number(in: sides)
        let (numerator, denominator) = (canvas["framerate"]?["numerator"], canvas["framerate"]?["denominator"])
        self = .unknown
        if let width, let height { (self.width, self.height) = (width, height) }
        if let numerator = numerator.number(in: 1...1_000_000), let denominator = denominator.number(in: 1...1_000_000) {
            frameRate = StreamTarget.FrameRate(numerator: numerator, denominator: denominator)
        }
    }
}

extension JSONValue? {
    /// A text of at most 64 bytes without control characters: it is repeated in the answer and in the log.
    fileprivate var word: String? {
        guard let text = self?.string, text.utf8.count <= 64, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return nil
        }
        return text
    }

    fileprivate func number(in range: ClosedRange<Int>) -> Int? {
        guard let number = self?.integer.flatMap({ Int(exactly: $0) }), range.contains(number) else { return nil }
        return number
    }
}
