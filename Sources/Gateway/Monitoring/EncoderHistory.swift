import GatewayLogging
import JSON
import MediaContract
import Wire

/// The last minute of what a live publish's encoder tells of its frames, and when that is worth a
/// warning. A value, without a clock.
struct EncoderHistory {
    /// Of the last minute; nil while the encoder has told nothing.
    private(set) var lastMinute: EncoderFigures?
    /// One each ten seconds; the oldest is where the last minute begins.
    private var readings: [(at: MonotonicTime, figures: EncoderFigures)] = []
    private var warnings = Allowance(1, then: .seconds(60))

    private static let span = Duration.seconds(60)
    private static let step = Duration.seconds(10)

    /// Looks at what was told since the publish began.
    /// - Returns: what is wrong, once a minute at most.
    mutating func look(_ figures: EncoderFigures, at now: MonotonicTime) -> String? {
        guard figures.reportCount > 0 else { return nil }
        if let last = readings.last, now - last.at < Self.step {} else { readings.append((now, figures)) }
        while readings.count > 1, now - readings[0].at > Self.span { readings.removeFirst() }
        let latest = figures.since(readings[0].figures)
        lastMinute = latest
        guard !latest.losses.isEmpty, warnings.take(at: now) else { return nil }
        return latest.verdict
    }
}

extension EncoderFigures {
    /// By the names that the API, the log and the metrics have in common.
    var counts: [(name: String, value: Int)] {
        [
            ("rendered", rendered), ("lagged", lagged), ("input", input), ("skipped", skipped), ("encoded", encoded),
            ("output", output), ("dropped", dropped),
        ]
    }

    /// Nil where nothing was told.
    var json: JSONValue? {
        guard reportCount > 0 else { return nil }
        var object = JSONObject()
        for (name, value) in counts { object[name] = .integer(Int64(value)) }
        if let verdict { object["verdict"] = .string(verdict) }
        if let culprit = losses.first?.culprit { object["culprit"] = .string(culprit.rawValue) }
        return .object(object)
    }

    /// Of the line that sums a publish up; none where nothing was told.
    func add(to fields: inout LogFields) {
        guard reportCount > 0 else { return }
        for (name, value) in counts { fields["encoder_\(name)"] = .integer(value) }
        if let verdict { fields["encoder_verdict"] = .string(verdict) }
    }
}
