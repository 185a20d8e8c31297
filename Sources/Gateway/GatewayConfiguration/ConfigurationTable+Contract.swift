import Settings

extension ConfigurationTable {
    static let contract = Section(
        "contract", "The media contract. Actions: disconnect, warn, off.",
        [
            Key("contract.videoCodec.action", \.contract.videoCodec.action, .live, "Video other than progressive H.264."),
            Key("contract.profile.limit", \.contract.profile.limit, .live, "H.264 profiles taken, judged by the SPS."),
            Key("contract.profile.action", \.contract.profile.action, .live, "Other profiles."),
            Key("contract.bFrames.action", \.contract.bFrames.action, .live, "B-frames, judged by slice types."),
            Key(
                "contract.maximumResolution.limit", \.contract.maximumResolution.limit, .live, in: 25_600...35_389_440,
                unit: "pixels",
                "Largest picture, width times height after cropping, in either orientation."),
            Key("contract.maximumResolution.action", \.contract.maximumResolution.action, .live, "Larger pictures."),
            Key(
                "contract.minimumResolution.limit", \.contract.minimumResolution.limit, .live, in: 16...4096, unit: "pixels",
                "Smallest short side of a picture; with layers, of the largest one."),
            Key("contract.minimumResolution.action", \.contract.minimumResolution.action, .live, "Smaller pictures."),
            Key(
                "contract.videoBitrate.limit", \.contract.videoBitrate.limit, .live, in: 100_000...200_000_000, unit: "bit/s",
                "All layers' video: a bucket that drains at 1.01 times this and holds 1.2 s of it."),
            Key("contract.videoBitrate.action", \.contract.videoBitrate.action, .live, "More than the bucket holds."),
            Key("contract.audioCodec.action", \.contract.audioCodec.action, .live, "Audio other than AAC-LC or Opus."),
            Key(
                "contract.audioFormat.action", \.contract.audioFormat.action, .live,
                "Other than 1 or 2 channels at 44.1 or 48 kHz."),
            Key(
                "contract.tracks.limit", \.contract.tracks.limit, .live, in: .seconds(1) ... .seconds(60),
                "RTMP: both tracks must have come within this time of the first media message."),
            Key(
                "contract.tracks.action", \.contract.tracks.action, .live,
                "A missing track. Unless it disconnects, one track alone is a publish."),
            Key(
                "contract.publishDuration.limit", \.contract.publishDuration.limit, .live,
                in: .seconds(60) ... .seconds(366 * 86_400),
                "Longest publish."),
            Key("contract.publishDuration.action", \.contract.publishDuration.action, .live, "A longer one."),
            Key(
                "contract.audioBitrate.limit", \.contract.audioBitrate.limit, .live, in: 6000...10_000_000, unit: "bit/s",
                "Audio bitrate."),
            Key("contract.audioBitrate.action", \.contract.audioBitrate.action, .live, "More."),
            Key(
                "contract.frameRate.minimum", \.contract.frameRate.minimum, .live, in: 1...240, unit: "frames a second",
                "Lowest frame rate; with layers, of the largest one."),
            Key(
                "contract.frameRate.maximum", \.contract.frameRate.maximum, .live, in: 1...240, unit: "frames a second",
                "Highest frame rate."),
            Key("contract.frameRate.action", \.contract.frameRate.action, .live, "Another frame rate."),
            Key(
                "contract.keyframeInterval.limit", \.contract.keyframeInterval.limit, .live,
                in: .milliseconds(100) ... .seconds(60),
                "Longest time between IDR pictures, with 10 % to spare; by WHIP, of encoders that send none when asked."),
            Key("contract.keyframeInterval.action", \.contract.keyframeInterval.action, .live, "A longer one."),
        ])
}
