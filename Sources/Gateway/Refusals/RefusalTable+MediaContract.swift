/// What a stream must be to get onto a stage (1040 to 1069, docs/design.md 8). The monitor puts the measured
/// values into the sentence.
extension RefusalCode {
    public static let videoCodec = RefusalCode(
        1040, "video_codec", .rejected, 422, event: "INVALID_VIDEO_CODEC",
        "The video must be H.264: choose an H.264 (AVC) encoder.")
    public static let videoProfile = RefusalCode(
        1041, "video_profile", .rejected, 422, event: "INVALID_VIDEO_CODEC",
        "The H.264 profile must be Baseline or Constrained Baseline: set the encoder's profile to baseline.")
    public static let bFrames = RefusalCode(
        1042, "b_frames", .rejected, 422, event: "B_FRAME_PRESENT",
        "The stream has B-frames, which real-time stages cannot show: set B-frames to 0 and look-ahead to off.")
    public static let resolutionExceeded = RefusalCode(
        1043, "resolution_exceeded", .rejected, 422, event: "RESOLUTION_EXCEEDED",
        "The picture is larger than 1280x720 in area: lower the output resolution.")
    public static let resolutionTooSmall = RefusalCode(
        1044, "resolution_too_small", .rejected, 422, event: "INVALID_INPUT",
        "The picture's short side is below 160 lines: raise the output resolution.")
    public static let bitrateExceeded = RefusalCode(
        1045, "bitrate_exceeded", .rejected, 422, event: "BITRATE_EXCEEDED",
        "The video bitrate is over the stage's limit: set a constant bitrate well below it.")
    public static let audioCodec = RefusalCode(
        1046, "audio_codec", .rejected, 422, event: "INVALID_AUDIO_CODEC",
        "The audio must be AAC-LC (RTMP) or Opus: choose that audio encoder.")
    public static let audioFormat = RefusalCode(
        1047, "audio_format", .rejected, 422, event: "INVALID_AUDIO_CODEC",
        "The audio must be mono or stereo at 44.1 or 48 kHz: change the audio settings.")
    public static let missingTrack = RefusalCode(
        1048, "missing_track", .rejected, 422, event: "INVALID_INPUT",
        "RTMP streams must have both video and audio: add the one that is missing.")
    public static let durationExceeded = RefusalCode(
        1049, "duration_exceeded", .rejected, 422, event: "STREAM_DURATION_EXCEEDED",
        "The stream has reached the longest duration allowed: start it again.")
    public static let interlacedVideo = RefusalCode(
        1050, "interlaced_video", .rejected, 422, event: "INVALID_VIDEO_CODEC",
        "The video is interlaced: deinterlace it and encode progressive frames.")
    public static let sliceStructure = RefusalCode(
        1051, "slice_structure", .rejected, 422, event: "INVALID_VIDEO_CODEC",
        "The H.264 stream uses slice groups, arbitrary slice order or redundant pictures: turn these off.")
    public static let repeatedViolation = RefusalCode(
        1052, "repeated_violation", .rejected, 429, "This encoder broke the stage's media rules three times in five minutes.")
}
