/// Rendezvous hashing: every gateway ranks the routers of a stage alike, and a router's loss moves only its own stages.
enum Rendezvous {
    /// The names, best first.
    static func ranking(of names: [String], for stageID: String) -> [String] {
        names.map { (score: score($0, stageID), name: $0) }
            .sorted { $0.score == $1.score ? $0.name < $1.name : $0.score > $1.score }
            .map(\.name)
    }

    /// FNV-1a over both names, then a finaliser that spreads short names (SplitMix64's).
    private static func score(_ name: String, _ stageID: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in Array(name.utf8) + [0] + Array(stageID.utf8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}
