import Foundation

/// What of a stage's participants is recorded, and where to (`AutoParticipantRecordingConfiguration` of the API model).
public struct RecordingConfiguration: Codable, Equatable, Sendable {
    public enum Media: String, Codable, CaseIterable, Sendable {
        case audioAndVideo = "AUDIO_VIDEO"
        case audioOnly = "AUDIO_ONLY"
        /// Thumbnails alone.
        case none = "NONE"
    }

    public struct Thumbnails: Codable, Equatable, Sendable {
        public enum Storage: String, Codable, CaseIterable, Sendable {
            /// Every one, numbered.
            case sequential = "SEQUENTIAL"
            /// The latest alone, written over the one before.
            case latest = "LATEST"
        }

        /// Whether any are made (`INTERVAL`, not `DISABLED`).
        public var isEnabled = false
        /// Seconds between two, 1 to 86,400.
        public var interval = 60
        public var storage: [Storage] = [.sequential]

        public init() {}
    }

    /// Where to; empty: nothing is recorded, and all else is its default.
    public var storageARN = ""
    public var media = Media.audioAndVideo
    public var thumbnails = Thumbnails()
    /// Seconds in which a participant who comes back goes on in the same recording, 0 to 300.
    public var reconnectWindow = 0
    /// Seconds of a segment that are aimed at, 2 to 10.
    public var segmentDuration = 6
    public var recordsReplicas = true

    public static let reconnectWindows = 0...300
    public static let segmentDurations = 2...10
    public static let thumbnailIntervals = 1...86_400

    public init() {}

    public var isEnabled: Bool { !storageARN.isEmpty }

    /// Seconds from one thumbnail to the next; nil where none are made, as of sound alone.
    public var thumbnailInterval: Int? { isEnabled && thumbnails.isEnabled && media != .audioOnly ? thumbnails.interval : nil }
}

/// As stores keep it: one text.
extension RecordingConfiguration {
    /// JSON with sorted names, so that equal values are equal text; empty while nothing is recorded.
    package var storedText: String {
        guard isEnabled else { return "" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers always encode.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Nil for what is none, as with times that the API does not take: twice one, or one and the clock, has to be a number.
    package init?(storedText: String) {
        guard !storedText.isEmpty else {
            self.init()
            return
        }
        guard let value = try? JSONDecoder().decode(Self.self, from: Data(storedText.utf8)),
            Self.reconnectWindows.contains(value.reconnectWindow), Self.segmentDurations.contains(value.segmentDuration),
            Self.thumbnailIntervals.contains(value.thumbnails.interval)
        else { return nil }
        self = value
    }
}
