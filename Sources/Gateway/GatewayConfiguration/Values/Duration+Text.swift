import Wire

/// Written `250ms`, `5s`, `30m`, `24h` or `14d`.
extension Duration: ScalarValue {
    private static let units: [(name: String, milliseconds: Int)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    init?(text: String) {
        guard let (count, unit) = Quantity.split(text), let unit = Self.units.first(where: { $0.name == unit }) else {
            return nil
        }
        let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow else { return nil }
        self = .milliseconds(milliseconds)
    }

    var text: String {
        let milliseconds = Int(self.milliseconds)
        let unit = Self.units.first { milliseconds != 0 && milliseconds % $0.milliseconds == 0 } ?? ("s", 1000)
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }

    static var expectation: String { "a time such as 250ms, 5s, 30m, 24h" }
}
