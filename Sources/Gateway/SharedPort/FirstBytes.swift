import Wire

/// How what is served at the shared port begins, outside TLS and inside.
enum FirstBytes {
    enum Reading<Found: Equatable>: Equatable {
        /// More has to come.
        case incomplete
        case found(Found)
        /// Nothing that is served here.
        case foreign
    }

    /// What a connection may begin with in the clear.
    enum Opening: Equatable { case tls, ice }

    static func opening(_ bytes: RawSpan) -> Reading<Opening> {
        reading([(.tls, begins(bytes, as: clientHello)), (.ice, isCheck(bytes))])
    }

    /// What it may begin with inside TLS.
    static func content(_ bytes: RawSpan) -> Reading<ConnectionKind> {
        reading([(.rtmps, begins(bytes, as: rtmp)), (.https, isRequest(bytes))])
    }

    /// - Parameter rules: what each says of the bytes; nil as long as they may still become what it looks for.
    private static func reading<Found>(_ rules: [(Found, Bool?)]) -> Reading<Found> {
        if let found = rules.first(where: { $0.1 == true }) { return .found(found.0) }
        return rules.contains { $0.1 == nil } ? .incomplete : .foreign
    }

    /// A TLS record that holds the beginning of a ClientHello (RFC 8446 §5.1): type, version, length of 2^14 at most, message.
    private static let clientHello: [ClosedRange<UInt8>] = [0x16...0x16, 3...3, 0...4, 0...0x40, 0...0xFF, 1...1]

    /// A frame of at most 2,303 bytes (RFC 4571) with a Binding request: type, length, magic cookie (RFC 8489 §5).
    private static let check: [ClosedRange<UInt8>] = [
        0...8, 0...0xFF, 0...0, 1...1, 0...8, 0...0xFF, 0x21...0x21, 0x12...0x12, 0xA4...0xA4, 0x42...0x42,
    ]

    /// C0 (RTMP 1.0 §5.2.2).
    private static let rtmp: [ClosedRange<UInt8>] = [3...3]

    private static func begins(_ bytes: RawSpan, as pattern: [ClosedRange<UInt8>]) -> Bool? {
        var reader = ByteReader(bytes)
        for range in pattern {
            guard let byte = reader.read(UInt8.self) else { return nil }
            guard range.contains(byte) else { return false }
        }
        return true
    }

    /// The lengths of frame and message belong together: nothing else is in the first frame.
    private static func isCheck(_ bytes: RawSpan) -> Bool? {
        let matches = begins(bytes, as: check)
        guard matches == true else { return matches }
        var reader = ByteReader(bytes)
        guard let frame = reader.read(UInt16.self), reader.read(UInt16.self) != nil, let message = reader.read(UInt16.self)
        else { return nil }
        return Int(frame) == stunHeaderByteCount + Int(message) && message % 4 == 0
    }

    /// A method in capitals and the blank behind it (RFC 9112 §3).
    private static func isRequest(_ bytes: RawSpan) -> Bool? {
        var reader = ByteReader(bytes)
        for length in 0...maximumMethodLength {
            guard let byte = reader.read(UInt8.self) else { return nil }
            if byte == UInt8(ascii: " ") { return length > 0 }
            guard (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) else { return false }
        }
        return false
    }

    private static let stunHeaderByteCount = 20
    /// The longest registered one has 17 letters (UPDATEREDIRECTREF).
    static let maximumMethodLength = 17
}
