import Settings

extension ConfigurationTable {
    static let recording = Section(
        "recording", "Recordings of what participants publish, as HLS (docs/recording.md).",
        [
            Key(
                "recording.directory", \.recording.directory, .restart,
                "Folder for recordings of participants whose stage says nothing else; empty: these are not recorded."),
            Key(
                "recording.spool", \.recording.spool, .restart, in: .mebibytes(64) ... .mebibytes(64 << 20),
                "Room for segments in the data directory until they are stored; beyond it a recording ends, never a stream."),
            Key(
                "recording.audio", \.recording.audio, .restart,
                "original: sound as it came, WHIP's as Opus; aac: WHIP's made into AAC, for players that know no Opus."),
        ])
}
