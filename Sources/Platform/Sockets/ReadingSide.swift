/// What comes in on a stream: what is kept of it until its parser takes it, and whether more is wanted. It knows no loop and
/// calls nobody: whoever delivers takes bytes out of it, and gives back what the parser has left.
struct ReadingSide {
    /// What the parser had left, and what came while reading was paused. Empty while the parser is being called.
    private(set) var unconsumed: [UInt8] = []
    /// The parser is not called, and nothing more is read.
    var isPaused = false
    /// The peer has closed its sending end.
    var hasPeerFinished = false

    /// Whether anything more is to be read.
    var wantsMore: Bool { !isPaused && !hasPeerFinished }

    /// So many new bytes lie in `buffers.room`.
    /// - Returns: what the parser is to be given, until the next stream is read: them behind what it had left. Nil while reading
    ///   is paused: then they are kept, because there is no un-reading them. So they are while more is kept than can be joined,
    ///   which was left in a pause, and comes again in a turn of its own.
    mutating func received(_ count: Int, in buffers: StreamBuffers) -> UnsafeRawBufferPointer? {
        let new = unsafe UnsafeRawBufferPointer(rebasing: buffers.room[..<count])
        if !isPaused {
            if unconsumed.isEmpty { return unsafe new }
            if let both = unsafe buffers.join(unconsumed, with: count) {
                unconsumed = []
                return unsafe both
            }
        }
        unsafe unconsumed.append(contentsOf: new)
        return nil
    }

    /// Keeps what the parser has left of what it was given.
    /// - Returns: false when it had better not be called again, because that is too much. A parser that has paused may leave all.
    mutating func keep(_ rest: UnsafeRawBufferPointer) -> Bool {
        unsafe unconsumed = [UInt8](rest)
        return isPaused || unconsumed.count <= TCPStream.maximumUnconsumedBytes
    }

    /// What was kept, which is then the caller's.
    mutating func takeUnconsumed() -> [UInt8] {
        defer { unconsumed = [] }
        return unconsumed
    }
}
