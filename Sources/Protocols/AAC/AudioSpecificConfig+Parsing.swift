import Wire

extension AudioSpecificConfig {
    /// Parses the body of the sequence header, with explicit SBR and PS (object types 5 and 29) and the backward
    /// compatible extension (sync 0x2B7), whose sbrPresentFlag 0, as OBS and ffmpeg send it, means plain AAC-LC.
    /// - Throws: `.truncated`, `.reservedFrequency`, `.tooLong`.
    public init(parsing record: RawSpan) throws(AACError) {
        guard record.byteCount <= Self.maximumByteCount else { throw .tooLong }
        bytes = [UInt8](copying: record)
        var cursor = BitCursor(bytes)
        objectType = try Self.objectType(from: &cursor)
        sampleRate = try Self.frequency(from: &cursor)
        channelConfiguration = UInt8(try Self.bits(4, from: &cursor))
        if objectType == .spectralBandReplication || objectType == .parametricStereo {
            hasSpectralBandReplication = true
            hasParametricStereo = objectType == .parametricStereo
            extensionSampleRate = try Self.frequency(from: &cursor)
            objectType = try Self.objectType(from: &cursor)
            if objectType.rawValue == 22 { _ = try Self.bits(4, from: &cursor) }
        }
        guard Self.hasGeneralConfig(objectType) else { return }
        hasShortFrames = try Self.bits(1, from: &cursor) == 1
        if try Self.bits(1, from: &cursor) == 1 { _ = try Self.bits(14, from: &cursor) }  // dependsOnCoreCoder
        _ = try Self.bits(1, from: &cursor)  // extensionFlag
        guard channelConfiguration != 0, !hasSpectralBandReplication else { return }
        readSyncExtension(&cursor)
    }

    /// The extension after the core's own configuration (§1.6.6.1); absent or cut short it changes nothing.
    private mutating func readSyncExtension(_ cursor: inout BitCursor) {
        let spectralBandReplicationSync: UInt32 = 0x2B7
        let parametricStereoSync: UInt32 = 0x548
        guard cursor.read(11) == spectralBandReplicationSync,
            let type = try? Self.objectType(from: &cursor), type == .spectralBandReplication, cursor.read(1) == 1
        else { return }
        hasSpectralBandReplication = true
        extensionSampleRate = try? Self.frequency(from: &cursor)
        if cursor.read(11) == parametricStereoSync { hasParametricStereo = cursor.read(1) == 1 }
    }

    private static func hasGeneralConfig(_ type: AudioObjectType) -> Bool {
        switch type.rawValue {
        case 1, 2, 3, 4, 6, 7, 17, 19...23: true
        default: false
        }
    }

    private static func objectType(from cursor: inout BitCursor) throws(AACError) -> AudioObjectType {
        let escape: UInt32 = 31
        let type = try bits(5, from: &cursor)
        return AudioObjectType(rawValue: UInt8(type == escape ? 32 + (try bits(6, from: &cursor)) : type))
    }

    private static func frequency(from cursor: inout BitCursor) throws(AACError) -> Int {
        let explicit: UInt32 = 15
        let index = try bits(4, from: &cursor)
        let frequency = index == explicit ? Int(try bits(24, from: &cursor)) : nil
        if let frequency, frequency > 0 { return frequency }
        guard index < sampleRates.count else { throw .reservedFrequency }
        return sampleRates[Int(index)]
    }

    private static func bits(_ count: Int, from cursor: inout BitCursor) throws(AACError) -> UInt32 {
        guard let value = cursor.read(count) else { throw .truncated }
        return value
    }
}
