public import Testing

/// NAL units behind lengths of two bytes, sound and malformed, and what every reader of them must find: the body of an RTMP
/// access unit and, behind its header byte, of a STAP-A alike.
public struct LengthPrefixedUnits: Sendable, CustomTestStringConvertible {
    public var testDescription: String
    public var body: [UInt8]
    /// What is judged and forwarded.
    public var units: [[UInt8]]
    public var isMalformed: Bool
    /// How much of the body is left.
    public var endOffset: Int

    init(_ name: String, _ body: [UInt8], _ units: [[UInt8]], isMalformed: Bool = false, endOffset: Int? = nil) {
        (testDescription, self.body, self.units) = (name, body, units)
        (self.isMalformed, self.endOffset) = (isMalformed, endOffset ?? body.count)
    }

    public static let cases =
        [
            LengthPrefixedUnits("one unit", [0, 2, 0x41, 0x9A], [[0x41, 0x9A]]),
            LengthPrefixedUnits("several", [0, 2, 6, 0x80, 0, 1, 0x41, 0, 2, 0x41, 7], [[6, 0x80], [0x41], [0x41, 7]]),
            LengthPrefixedUnits("an empty one between", [0, 1, 0x41, 0, 0, 0, 1, 0x41], [[0x41], [0x41]]),
            LengthPrefixedUnits("a filler between", [0, 1, 0x41, 0, 2, 12, 0xFF, 0, 1, 0x41], [[0x41], [0x41]]),
            LengthPrefixedUnits("only a filler", [0, 2, 12, 0xFF], []),
            LengthPrefixedUnits("a cut length", [0, 1, 0x41, 0], [[0x41]], isMalformed: true, endOffset: 3),
            LengthPrefixedUnits("a length beyond the end", [0, 1, 0x41, 0, 9, 0x41], [[0x41]], isMalformed: true, endOffset: 3),
            LengthPrefixedUnits("nothing but a length beyond the end", [0xFF, 0xFF, 0x41], [], isMalformed: true, endOffset: 0),
            LengthPrefixedUnits("nothing but a cut length", [9], [], isMalformed: true, endOffset: 0),
            LengthPrefixedUnits(
                "more than are taken", unit(1_300), Array(repeating: [0x41], count: 1_200), isMalformed: true, endOffset: 3_600),
        ]
        + [0, 24, 25, 28, 29, 31].map { type in
            LengthPrefixedUnits("type \(type) before a slice", [0, 2, type, 1, 0, 1, 0x41], [[0x41]], isMalformed: true)
        }

    private static func unit(_ count: Int) -> [UInt8] { (0..<count).flatMap { _ in [0, 1, 0x41] as [UInt8] } }
}
