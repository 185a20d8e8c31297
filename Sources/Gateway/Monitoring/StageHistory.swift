import Admission
import StageHub
import Wire

/// What stages and their publishers were like over the last three hours, in the terms of IVS's CloudWatch metrics.
///
/// Bounded in stages and participants; whoever was silent longest is forgotten first.
public struct StageHistory {
    static let maximumStages = 1_024
    static let maximumParticipants = 1_024

    /// One publisher's series.
    struct Participant {
        var stageID: String
        var video = [MinuteSeries](repeating: MinuteSeries(), count: PublishCounters.maximumLayerCount)
        var resolution = [MinuteSeries](repeating: MinuteSeries(), count: PublishCounters.maximumLayerCount)
        var audio = MinuteSeries()
        /// RTMP publishers only.
        var frameRate = MinuteSeries()
        var lastMinute: Int32 = 0

        mutating func add(_ sample: SessionSample, hasFrameRate: Bool, at time: WallTime) {
            lastMinute = MinuteSeries.minute(of: time)
            for (layer, track) in sample.video.enumerated() where track.isActive || !video[layer].isEmpty {
                video[layer].add(Double(track.bitsPerSecond), at: time)
                if track.shortSide > 0 { resolution[layer].add(Double(track.shortSide), at: time) }
            }
            audio.add(Double(sample.audio.bitsPerSecond), at: time)
            if hasFrameRate { frameRate.add(sample.framesPerSecond, at: time) }
        }
    }

    struct Stage {
        var bitrate = MinuteSeries()
        var publishers = MinuteSeries()
        var lastMinute: Int32 = 0
    }

    private(set) var stages: [String: Stage] = [:]
    /// By stage and participant.
    private var participants: [String: Participant] = [:]

    public init() {}

    func participants(ofStage id: String) -> [(id: String, series: Participant)] {
        participants.filter { $0.value.stageID == id }
            .map { (String($0.key.dropFirst(id.count + 1)), $0.value) }.sorted { $0.0 < $1.0 }
    }

    mutating func add(_ sample: SessionSample, of record: SessionRecord, at time: WallTime) {
        let stage = record.lease.stageID
        let key = "\(stage)/\(record.lease.participantID)"
        if participants[key] == nil {
            Self.makeRoom(in: &participants, Self.maximumParticipants, \.lastMinute)
            participants[key] = Participant(stageID: stage)
        }
        participants[key]?.add(sample, hasFrameRate: record.ingestProtocol != .whip, at: time)
        change(stage, at: time) { $0.bitrate.add(Double(sample.bitsPerSecond), at: time) }
    }

    /// One sample of each stage that has publishers.
    mutating func countPublishers(_ live: [SessionRecord], at time: WallTime) {
        let counts = live.reduce(into: [String: Int]()) { $0[$1.lease.stageID, default: 0] += 1 }
        for (stage, count) in counts { change(stage, at: time) { $0.publishers.add(Double(count), at: time) } }
    }

    private mutating func change(_ id: String, at time: WallTime, _ body: (inout Stage) -> Void) {
        if stages[id] == nil { Self.makeRoom(in: &stages, Self.maximumStages, \.lastMinute) }
        var stage = stages.removeValue(forKey: id) ?? Stage()
        stage.lastMinute = MinuteSeries.minute(of: time)
        body(&stage)
        stages[id] = stage
    }

    private static func makeRoom<Entry>(in table: inout [String: Entry], _ limit: Int, _ age: KeyPath<Entry, Int32>) {
        guard table.count >= limit, let oldest = table.min(by: { $0.value[keyPath: age] < $1.value[keyPath: age] }) else {
            return
        }
        table[oldest.key] = nil
    }
}
