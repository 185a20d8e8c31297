import Wire

/// What encoders were warned of while they published, for their next attempt: it is admitted, and told in passing.
struct RememberedWarnings {
    private struct Warning {
        var attempt: RememberedRefusals.Attempt
        var sentence: String
        var time: MonotonicTime
    }

    /// The last one of each credential.
    private var warnings: [String: Warning] = [:]

    mutating func warned(_ attempt: RememberedRefusals.Attempt, _ sentence: String, at now: MonotonicTime) {
        if warnings[attempt.credential] == nil, warnings.count >= RememberedRefusals.maximumCredentials {
            warnings = warnings.filter { now - $0.value.time < Self.lifetime }
            let oldest = warnings.min { $0.value.time < $1.value.time }
            if warnings.count >= RememberedRefusals.maximumCredentials, let oldest { warnings[oldest.key] = nil }
        }
        warnings[attempt.credential] = Warning(attempt: attempt, sentence: sentence, time: now)
    }

    /// The warning of an encoder that begins anew with the same settings; it is spent by being told.
    mutating func take(_ attempt: RememberedRefusals.Attempt, at now: MonotonicTime) -> String? {
        guard let warning = warnings.removeValue(forKey: attempt.credential), warning.attempt == attempt,
            now - warning.time <= Self.lifetime
        else { return nil }
        return warning.sentence
    }

    /// Live publishes are warned again every minute: an hour after the last time it is an old story.
    static let lifetime = Duration.seconds(3_600)
}
