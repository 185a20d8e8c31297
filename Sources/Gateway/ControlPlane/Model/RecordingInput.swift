import Store

extension Input {
    /// `autoParticipantRecordingConfiguration`, members that are absent as their defaults; nil where it was not sent.
    ///
    /// `""` as its storage configuration switches recording off, and resets all else.
    func recording() throws(APIError) -> RecordingConfiguration? {
        guard let input = try optionalStructure("autoParticipantRecordingConfiguration") else { return nil }
        var recording = RecordingConfiguration()
        recording.storageARN = try input.text("storageConfigurationArn", .arnOrEmpty(.storageConfiguration))
        let media: [RecordingConfiguration.Media] = try input.values("mediaTypes", maximumCount: 1) ?? []
        recording.media = media.first ?? recording.media
        recording.reconnectWindow =
            try input.optionalInteger("recordingReconnectWindowSeconds", RecordingConfiguration.reconnectWindows)
            ?? recording.reconnectWindow
        recording.recordsReplicas = try input.optionalFlag("recordParticipantReplicas") ?? recording.recordsReplicas
        if let segments = try input.optionalStructure("hlsConfiguration") {
            recording.segmentDuration =
                try segments.optionalInteger("targetSegmentDurationSeconds", RecordingConfiguration.segmentDurations)
                ?? recording.segmentDuration
        }
        if let thumbnails = try input.optionalStructure("thumbnailConfiguration") {
            recording.thumbnails = try thumbnails.thumbnails()
        }
        return recording.isEnabled ? recording : RecordingConfiguration()
    }

    private func thumbnails() throws(APIError) -> RecordingConfiguration.Thumbnails {
        var thumbnails = RecordingConfiguration.Thumbnails()
        thumbnails.interval =
            try optionalInteger("targetIntervalSeconds", RecordingConfiguration.thumbnailIntervals) ?? thumbnails.interval
        thumbnails.isEnabled = try optionalText("recordingMode", .oneOf("INTERVAL", "DISABLED")) == "INTERVAL"
        let storage: [RecordingConfiguration.Thumbnails.Storage] = try values("storage", maximumCount: 2) ?? []
        if let first = storage.first { thumbnails.storage = storage.allSatisfy { $0 == first } ? [first] : storage }
        return thumbnails
    }

    /// A list of an enumeration's values.
    private func values<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, maximumCount: Int
    ) throws(APIError) -> [Value]? {
        let rule = TextRule.oneOf(Value.allCases.map(\.rawValue))
        return try optionalTexts(name, rule, maximumCount: maximumCount)?.compactMap(Value.init(rawValue:))
    }
}
