extension MetricsRegistry {
    /// The media type of `exposition()`.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The text format of Prometheus, version 0.0.4: families and series in a fixed order.
    public func exposition() -> [UInt8] {
        var text = ""
        for family in snapshot {
            text +=
                "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n# TYPE \(family.name) \(family.kind.rawValue)\n"
            let series = family.series.sorted { Self.text(of: $0.key) < Self.text(of: $1.key) }
            for (labels, series) in series { Self.write(series, family.name, labels, into: &text) }
        }
        return Array(text.utf8)
    }

    private static func write(_ series: Series, _ name: String, _ labels: MetricLabels, into text: inout String) {
        switch series {
        case .counter(let counter): text += "\(name)\(Self.text(of: labels)) \(counter.value)\n"
        case .gauge(let gauge): text += "\(name)\(Self.text(of: labels)) \(number(gauge.value))\n"
        case .reading(let read): text += "\(name)\(Self.text(of: labels)) \(number(read()))\n"
        case .histogram(let histogram):
            let (counts, sum) = histogram.snapshot
            for (bound, count) in zip(histogram.bounds.map(number) + ["+Inf"], counts) {
                text += "\(name)_bucket\(Self.text(of: labels, bound: bound)) \(count)\n"
            }
            text += "\(name)_sum\(Self.text(of: labels)) \(number(sum))\n"
            text += "\(name)_count\(Self.text(of: labels)) \(counts.last ?? 0)\n"
        }
    }

    private static func text(of labels: MetricLabels, bound: String? = nil) -> String {
        var pairs = labels.labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
        if let bound { pairs.append("le=\"\(bound)\"") }
        return pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int(exactly: value).map { String($0) } ?? value.description
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
