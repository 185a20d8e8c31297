import Wire

/// What encoders were warned of while they published, for their next attempt: it is admitted, and told in passing.
struct RememberedWarnings {
    private struct Warning {
        var attempt: RememberedRefusals.Attempt
        var sentence: String
        var time: MonotonicTime
    }

    /// The last one of each credential.
    private var warnings = FadingTable<String, Warning>(
        maximumCount: RememberedRefusals.maximumCredentials, lifetime: lifetime)

    mutating func warned(_ attempt: RememberedRefusals.Attempt, _ sentence: String, at now: MonotonicTime) {
        warnings.set(Warning(attempt: attempt, sentence: sentence, time: now), for: attempt.credential, at: now)
    }

    /// The warning of an encoder that begins anew with the same settings; it is spent by being told.
    mutating func take(_ attempt: RememberedRefusals.Attempt, at now: MonotonicTime) -> String? {
        guard let warning = warnings.glimpse(of: attempt.credential) else { return nil }
        warnings.set(nil, for: attempt.credential, at: now)
        return warning.attempt == attempt && now - warning.time <= Self.lifetime ? warning.sentence : nil
    }

    /// Live publishes are warned again every minute: an hour after the last time it is an old story.
    private static let lifetime = Duration.seconds(3_600)
}
