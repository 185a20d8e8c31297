import Testing

extension UnderLoad {
    @Suite struct BackgroundLoop {
        @Test(.timeLimit(.minutes(15)))
        func `one group of pictures goes on for minutes`() throws { try Interop.SDKShaped.goToBackground(for: 240) }
    }
}
