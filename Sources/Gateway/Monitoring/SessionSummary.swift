import Admission
import GatewayLogging
import JSON
import StageHub
import Wire

/// What became of a publish, in one line of the log: who, how long, how much, how well, and why it ended.
struct SessionSummary {
    private let record: SessionRecord

    init(_ record: SessionRecord) { self.record = record }

    func log() { Log.event(.info, "session_ended", fields) }

    var fields: LogFields {
        let counters = record.counters
        let totals = SessionTotals(counters)
        let encoder = record.encoder
        let seconds = max(duration.inSeconds, 0.001)
        var fields: LogFields = [
            "session": .string(record.id), "participant": .string(record.grant.participantID),
            "stage": .string(record.grant.stageID), "protocol": .string(record.ingestProtocol.label),
            "remote": .address(record.origin.source), "user_agent": .string(record.origin.userAgent),
            "duration_s": .seconds(duration), "bytes": .integer(totals.bytes), "packets": .integer(totals.packets),
            "lost_packets": .integer(totals.lost), "recovered_packets": .integer(totals.recovered),
            "loss": .number(totals.lossRatio.rounded(toPlaces: 4)),
            "bitrate_bps": .integer(Int(Double(totals.bytes) * 8 / seconds)),
            "video_frames": .integer(totals.videoFrames), "audio_frames": .integer(counters.audio.frames.value),
        ]
        if let size = totals.largestPicture { fields["picture"] = .string("\(size.width)x\(size.height)") }
        encoder.add(to: &fields)
        fields["reason"] = .string(record.ending?.reason ?? "")
        fields["verdict"] = .string(record.ending?.verdict ?? "")
        return fields
    }

    private var duration: Duration { (record.ending?.time ?? record.began) - record.began }
}

/// A publish's counters added up over its tracks and layers.
struct SessionTotals {
    let bytes: Int
    let packets: Int
    let videoFrames: Int
    let lost: Int
    let recovered: Int
    /// The largest layer's.
    let largestPicture: (width: Int, height: Int)?

    init(_ counters: PublishCounters) {
        let tracks = counters.video + [counters.audio]
        bytes = tracks.reduce(0) { $0 + $1.bytes.value }
        packets = tracks.reduce(0) { $0 + $1.packets.value }
        videoFrames = counters.video.reduce(0) { $0 + $1.frames.value }
        (lost, recovered) = (counters.lost.value, counters.recovered.value)
        largestPicture = counters.video.compactMap(\.pictureSize).max { $0.width * $0.height < $1.width * $1.height }
    }

    /// Of the packets that were sent, by their numbers: those that never came.
    var lossRatio: Double { lost == 0 ? 0 : Double(lost) / Double(packets + lost) }
}

extension Double {
    func rounded(toPlaces places: Int) -> Double {
        let factor = (0..<places).reduce(1.0) { product, _ in product * 10 }
        return (self * factor).rounded() / factor
    }
}

extension SessionTotals {
    var json: JSONValue {
        var object: JSONObject = [
            "bytes": .integer(Int64(bytes)), "packets": .integer(Int64(packets)), "videoFrames": .integer(Int64(videoFrames)),
            "lostPackets": .integer(Int64(lost)), "recoveredPackets": .integer(Int64(recovered)),
        ]
        if let largestPicture { object["picture"] = .string("\(largestPicture.width)x\(largestPicture.height)") }
        return .object(object)
    }
}
