import Testing

extension UnderLoad {
    @Suite struct RecordingKills {
        @Test(.timeLimit(.minutes(40)))
        func `what was journalled plays after each of 50 kills at 50 moments`() throws {
            try Interop.Recording.survive(kills: 50)
        }
    }
}
