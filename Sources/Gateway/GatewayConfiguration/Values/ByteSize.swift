/// A number of bytes, written `64KiB`, `8MiB`, `1GiB` or `1500B`.
public struct ByteSize: Equatable, Comparable, Sendable {
    public var bytes: Int

    public init(bytes: Int) { self.bytes = bytes }
    public static func kibibytes(_ count: Int) -> ByteSize { ByteSize(bytes: count << 10) }
    public static func mebibytes(_ count: Int) -> ByteSize { ByteSize(bytes: count << 20) }

    public static func < (left: ByteSize, right: ByteSize) -> Bool { left.bytes < right.bytes }
}

extension ByteSize: ScalarValue {
    private static let units: [(name: String, bytes: Int)] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)]

    init?(text: String) {
        guard let (count, unit) = Quantity.split(text), let unit = Self.units.first(where: { $0.name == unit }) else {
            return nil
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
        guard !overflow else { return nil }
        self.init(bytes: bytes)
    }

    var text: String {
        let unit = Self.units.first { bytes != 0 && bytes % $0.bytes == 0 } ?? ("B", 1)
        return "\(bytes / unit.bytes)\(unit.name)"
    }

    static var expectation: String { "a size such as 64KiB" }
}

/// A whole number with its unit behind it.
enum Quantity {
    static func split(_ text: String) -> (count: Int, unit: Substring)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int(digits) else { return nil }
        return (count, text[digits.endIndex...])
    }
}
