/// Tells the network test of the broadcast SDKs from a publish, by how it went (docs/encoders.md). A value, told once a second.
///
/// A test has a real key and URL, and nothing marks it: it sends for 8 s, at rates that rise in steps, and is gone without a
/// word. When in doubt it is a publish.
struct NetworkTest {
    /// Bytes of media by the end of each second, as many as a test may take and some more.
    private var totals = [0]

    /// - Parameter byteCount: of all media until now.
    mutating func secondPassed(byteCount: Int) {
        if totals.count <= Self.maximumSeconds + 1 { totals.append(byteCount) }
    }

    /// Whether what has ended now without a goodbye was a test.
    /// - Parameter byteCount: of all media.
    func isLikely(byteCount: Int) -> Bool {
        let totals = totals + [byteCount]
        guard totals.count - 1 <= Self.maximumSeconds else { return false }
        // Pairs of seconds: a keyframe comes every 2 s, and would be a step by itself.
        let windows = stride(from: 2, to: totals.count, by: 2).map { totals[$0] - totals[$0 - 2] }
        let steps = zip(windows, windows.dropFirst())
        let falls = steps.contains { before, after in Double(after) < Self.fall * Double(before) }
        return !falls && steps.count { before, after in Double(after) >= Self.rise * Double(before) } >= Self.fewestRises
    }

    /// The SDK's default is 8.
    private static let maximumSeconds = 12
    private static let rise = 1.25
    private static let fall = 0.8
    /// What begins once and lies across two pairs looks like two.
    private static let fewestRises = 3
}
