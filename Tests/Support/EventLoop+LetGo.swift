public import EventLoop

extension EventLoop {
    /// A stream that was closed holds itself and its loop until its peer has closed too: they are given their turns, so that a
    /// test's descriptors end with it.
    public func letGo() { _ = run(until: { false }, within: .milliseconds(20)) }
}
