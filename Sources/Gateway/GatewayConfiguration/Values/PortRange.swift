/// UDP ports from the first to the last, written `5004-5103`.
public struct PortRange: Equatable, Sendable {
    public var first: UInt16
    public var last: UInt16

    public init(_ first: UInt16, _ last: UInt16) { (self.first, self.last) = (first, last) }
    public var ports: ClosedRange<UInt16> { first...last }
}

extension PortRange: ScalarValue {
    init?(text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = UInt16(ends[0]), let last = UInt16(ends[1]), 0 < first, first <= last else {
            return nil
        }
        self.init(first, last)
    }

    var text: String { "\(first)-\(last)" }
    static var expectation: String { "two ports such as 5004-5103" }
}
