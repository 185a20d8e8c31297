import Glibc
import Wire

/// Lines on their way to a descriptor that may be slow, full for a while, or read by nobody.
struct LineOutput {
    /// What a pipe takes at once when it says that it has room (PIPE_BUF).
    private static let maximumPartLength = 4_096
    private static let lineFeed = UInt8(ascii: "\n")

    private let descriptor: CInt
    private let patience: Duration
    /// The descriptor took the beginning of a line and refused the rest, as a disk does that became full.
    private var isInLine = false

    /// - Parameters:
    ///   - descriptor: stays open, and belongs to the caller.
    ///   - patience: so long may it take nothing before `write` asks whether anybody waits.
    init(to descriptor: CInt, patience: Duration) { (self.descriptor, self.patience) = (descriptor, patience) }

    /// Writes whole lines, the first one on a line of its own whatever was cut off before.
    /// - Returns: how many of them the descriptor refused; nil where it was given up, as nobody waits for it any longer.
    mutating func write(_ lines: [UInt8], isClosed: () -> Bool) -> Int? {
        if isInLine {
            guard let refused = put([Self.lineFeed], isClosed) else { return nil }
            isInLine = !refused.isEmpty
        }
        guard !isInLine else { return Self.lineCount(in: lines[...]) }
        guard let refused = put(lines[...], isClosed) else { return nil }
        isInLine = !refused.isEmpty && lines[..<refused.startIndex].last.map { $0 != Self.lineFeed } ?? false
        return Self.lineCount(in: refused)
    }

    /// Never begins a write that would wait: a write cannot be given up.
    /// - Returns: what the descriptor refused; nil where it was given up.
    private func put(_ bytes: ArraySlice<UInt8>, _ isClosed: () -> Bool) -> ArraySlice<UInt8>? {
        var rest = bytes
        while !rest.isEmpty {
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let ready = unsafe poll(&entry, 1, CInt(clamping: patience.milliseconds))
            if ready == 0, isClosed() { return nil }
            if ready < 0, errno != EINTR { return rest }
            guard ready > 0 else { continue }
            let part = rest.prefix(Self.maximumPartLength)
            let count = unsafe part.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EAGAIN, errno != EINTR {
                return rest
            }
        }
        return rest
    }

    private static func lineCount(in bytes: ArraySlice<UInt8>) -> Int { bytes.count { $0 == lineFeed } }
}
